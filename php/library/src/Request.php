<?php

declare(strict_types=1);

namespace Weighbridge\Library;

/** What a request says: its method and its header fields. */
final class Request
{
    /** `GET`, in capitals. */
    public string $method;

    /** @var array<string, string> by their names in small letters */
    private array $fields;

    /** @var array<mixed> where the other fields are found, by the names that PHP gives them: `HTTP_ACCEPT` */
    private array $server = [];

    /** @param array<string, string> $fields by their names in small letters */
    public function __construct(string $method, array $fields)
    {
        $this->method = strtoupper($method);
        $this->fields = $fields;
    }

    /**
     * A request of a framework.
     *
     * @param array<array<mixed>> $fields the values of each by its name in any letters
     */
    public static function of(string $method, array $fields): self
    {
        return new self($method, array_map(static function (array $values): string {
            return implode(', ', array_map('strval', $values));
        }, array_change_key_case($fields)));
    }

    /**
     * The request that PHP runs for.
     *
     * @param array<mixed>|null $server null: `$_SERVER`
     */
    public static function current(?array $server = null): self
    {
        $server = $server ?? $_SERVER;
        $method = $server['REQUEST_METHOD'] ?? 'GET';
        $request = new self(is_string($method) ? $method : 'GET', []);
        $request->server = $server;
        return $request;
    }

    /** A field's value; null without it. */
    public function field(string $name): ?string
    {
        $value = $this->fields[$name] ?? $this->server['HTTP_' . strtoupper(strtr($name, '-', '_'))] ?? null;
        return is_string($value) ? $value : null;
    }

    /** Whether the server knows the user by what the browser sends beside fields that PHP has: its own log-in, a certificate. */
    public function isKnownToServer(): bool
    {
        $server = $this->server;
        $users = [$server['REMOTE_USER'] ?? '', $server['PHP_AUTH_USER'] ?? '', $server['PHP_AUTH_DIGEST'] ?? ''];
        return implode('', array_filter($users, 'is_string')) !== '' || ($server['SSL_CLIENT_VERIFY'] ?? '') === 'SUCCESS';
    }
}
