<?php

declare(strict_types=1);

/** What must hold. */
final class Expect
{
    public static function same(mixed $expected, mixed $actual, string $what = 'value'): void
    {
        if ($expected !== $actual) {
            throw new Failure("$what is " . self::shown($actual) . ', not ' . self::shown($expected));
        }
    }

    public static function true(bool $holds, string $what): void
    {
        if (!$holds) {
            throw new Failure($what);
        }
    }

    /** @param class-string $class */
    public static function throws(string $class, string $part, Closure $body): void
    {
        try {
            $body();
        } catch (Throwable $error) {
            self::same($class, get_class($error), "the class of \"{$error->getMessage()}\"");
            self::true(str_contains($error->getMessage(), $part), "\"{$error->getMessage()}\" lacks \"$part\"");
            return;
        }
        throw new Failure("no $class");
    }

    private static function shown(mixed $value): string
    {
        $text = var_export($value, true);
        return strlen($text) > 200 ? substr($text, 0, 200) . '… (' . strlen($text) . ' characters)' : $text;
    }
}
