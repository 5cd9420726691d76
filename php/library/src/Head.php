<?php

declare(strict_types=1);

namespace Weighbridge\Library;

/** @internal A response's status and header fields, as far as they decide about its encoding. */
final class Head
{
    /** Content that is sent bit by bit, and waited for. */
    private const STREAMS = '~^(?:text/event-stream|application/(?:x-ndjson|ndjson|jsonl|jsonlines|x-jsonlines|json-seq'
        . '|stream\+json)|multipart/x-mixed-replace)$~D';

    public int $status;

    /** @var array<string, string> by their names in small letters; fields of one name are joined */
    private array $fields = [];

    /** @param iterable<string, string|null|array<string|null>> $fields by name */
    public function __construct(int $status, iterable $fields)
    {
        $this->status = $status;
        foreach ($fields as $name => $values) {
            $this->add((string) $name, implode(', ', (array) $values));
        }
    }

    /** What PHP is about to send. */
    public static function current(): self
    {
        $head = new self(http_response_code() ?: 200, []);
        foreach (headers_list() as $line) {
            [$name, $value] = explode(':', $line, 2) + [1 => ''];
            $head->add($name, trim($value));
        }
        $head->fields += ['content-type' => (string) ini_get('default_mimetype')];
        return $head;
    }

    /** A field's value; null without it. */
    public function field(string $name): ?string
    {
        return $this->fields[$name] ?? null;
    }

    /** The media type in small letters, without parameters; empty without it. */
    public function type(): string
    {
        return strtolower(trim(explode(';', $this->field('content-type') ?? '', 2)[0]));
    }

    /** Whether each bit is waited for: nothing of it is held back. */
    public function isStream(): bool
    {
        return preg_match(self::STREAMS, $this->type()) === 1 || $this->lists('x-accel-buffering', 'no');
    }

    /** Whether one of the members of a list, such as `no-transform`, is in the field. */
    public function lists(string $name, string $member): bool
    {
        return in_array($member, array_map('trim', explode(',', strtolower($this->field($name) ?? ''))), true);
    }

    /** The field with one more member at its end. */
    public function with(string $name, string $member): string
    {
        return ltrim("{$this->field($name)}, $member", ', ');
    }

    private function add(string $name, string $value): void
    {
        $name = strtolower($name);
        $this->fields[$name] = isset($this->fields[$name]) ? $this->with($name, $value) : $value;
    }
}
