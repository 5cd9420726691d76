<?php

declare(strict_types=1);

/** A response as it came over the wire. */
final class Response
{
    public int $status;
    /** @var array<string, list<string>> by name in small letters */
    private array $header = [];

    public function __construct(string $head, public string $body)
    {
        $lines = explode("\r\n", $head);
        $this->status = (int) explode(' ', $lines[0])[1];
        foreach (array_slice($lines, 1) as $line) {
            [$name, $value] = explode(':', $line, 2) + [1 => ''];
            $this->header[strtolower($name)][] = trim($value);
        }
    }

    /** All values of a field, with commas between; null without it. */
    public function field(string $name): ?string
    {
        return isset($this->header[$name]) ? implode(', ', $this->header[$name]) : null;
    }

    /** Whether Vary names Accept-Encoding, once. */
    public function varies(): bool
    {
        return substr_count(strtolower($this->field('vary') ?? ''), 'accept-encoding') === 1;
    }

    /** The page, decoded; the length that the header states must be that of the body. */
    public function page(): string
    {
        $length = $this->field('content-length');
        Expect::true($length === null || (int) $length === strlen($this->body), "Content-Length is not that of the body");
        $coding = $this->field('content-encoding');
        // By another library than the one that encoded, where this PHP has it.
        return match ($coding) {
            null => $this->body,
            'gzip' => function_exists('gzdecode') ? gzdecode($this->body) : weighbridge_decode($this->body, 'gzip', 1 << 26),
            default => weighbridge_decode($this->body, $coding, 1 << 26),
        };
    }
}
