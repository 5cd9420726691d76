<?php

declare(strict_types=1);

namespace Weighbridge\Library;

/** What a request says: its method and its header fields, by their names in small letters. */
final class Request
{
    /** `GET`, in capitals. */
    public string $method;

    /** @var array<string, string> */
    private array $fields;

    /** @param array<string, string> $fields by their names in small letters */
    public function __construct(string $method, array $fields)
    {
        $this->method = strtoupper($method);
        $this->fields = $fields;
    }

    /**
     * The request that PHP runs for.
     *
     * @param array<mixed>|null $server null: `$_SERVER`
     */
    public static function current(?array $server = null): self
    {
        $server = $server ?? $_SERVER;
        $fields = [];
        foreach ($server as $name => $value) {
            if (is_string($name) && strncmp($name, 'HTTP_', 5) === 0 && is_string($value)) {
                $fields[strtolower(strtr(substr($name, 5), '_', '-'))] = $value;
            }
        }
        $method = $server['REQUEST_METHOD'] ?? 'GET';
        return new self(is_string($method) ? $method : 'GET', $fields);
    }

    /** A field's value; null without it. */
    public function field(string $name): ?string
    {
        return $this->fields[$name] ?? null;
    }

    /** Whether it carries what the server knows a person by. */
    public function isPersonal(): bool
    {
        return isset($this->fields['cookie']) || isset($this->fields['authorization']);
    }

    /**
     * Whether a page of another site made the browser send it, as far as the browser says. What a person typed, and
     * what an old browser sends without a referrer, counts as one of the same site.
     */
    public function isCrossSite(): bool
    {
        $site = $this->field('sec-fetch-site');
        if ($site !== null) {
            return $site !== 'same-origin' && $site !== 'none';
        }
        $from = $this->field('origin') ?? $this->field('referer');
        if ($from === null) {
            return false;
        }
        $parts = parse_url($from);
        $host = is_array($parts) ? ($parts['host'] ?? '') . (isset($parts['port']) ? ":{$parts['port']}" : '') : '';
        return strcasecmp($host, $this->field('host') ?? '') !== 0;
    }
}
