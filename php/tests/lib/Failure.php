<?php
/** Thrown where something is not as a test has it. */
final class Failure extends Exception
{
    /** Fails unless both are the same in type and value. */
    public static function unlessSame($expected, $found, $what)
    {
        if ($expected !== $found) {
            $texts = array(json_encode($expected), json_encode($found));
            throw new self("$what: expected {$texts[0]}, found {$texts[1]}");
        }
    }

    /** Fails unless the condition holds. */
    public static function unless($condition, $what)
    {
        if (!$condition) {
            throw new self($what);
        }
    }

    /** Fails unless the reply is a fault of that kind, whose message has the text. */
    public static function unlessFault(array $reply, $kind, $text)
    {
        self::unless(isset($reply['fault']), "expected a fault of kind $kind, found " . json_encode($reply));
        self::unlessSame($kind, $reply['fault']['kind'], 'kind of ' . json_encode($reply['fault']));
        $message = $reply['fault']['message'];
        self::unless(stripos($message, $text) !== false, "`$text` is not in the fault's message: $message");
        self::unless(strpos($message, "\n") === false, "the fault's message has more than one line: $message");
    }
}
