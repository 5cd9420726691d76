<?php

declare(strict_types=1);

namespace Weighbridge\Library;

/** What a request says: its method and its header fields, and what follows for an encoded answer. */
final class Request
{
    /** A longer Accept-Encoding is not read. Servers refuse most of them: 8 KB is Apache's limit for a line. */
    private const MAX_BYTES = 8192;

    private const MEMBER = '/^\s*([!#$%&\'*+.^_`|~0-9a-z-]+)\s*(?:;\s*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?$/D';

    /** Cookies of analytics and of consent, which tell nobody who somebody is. */
    private const HARMLESS = '/^(?:_ga(?:_.*)?|_gid|_gat.*|_gcl_.*|_dc_gtm_.*|_fb[pc]|_pk_.*|_hj.*|__utm.*|_uet.*'
        . '|_clck|_clsk|Optanon(?:Consent|AlertBoxClosed)|CookieConsent|cookieyes-consent|cookielawinfo-.*|euconsent-v2)$/D';

    /** Schemes of Authorization that a browser sends by itself. */
    private const BY_BROWSERS = ['basic', 'digest', 'negotiate', 'ntlm'];

    /** `GET`, in capitals. */
    public string $method;

    /** @var array<string, string> by their names in small letters */
    private array $fields;

    /** @var array<mixed> where the other fields are found, by the names that PHP gives them: `HTTP_ACCEPT` */
    private array $server;

    /**
     * @param array<string, string> $fields by their names in small letters
     * @param array<mixed>          $server
     */
    public function __construct(string $method, array $fields, array $server = [])
    {
        [$this->method, $this->fields, $this->server] = [strtoupper($method), $fields, $server];
    }

    /**
     * A request of a framework.
     *
     * @param array<array<mixed>> $fields the values of each by its name in any letters
     */
    public static function of(string $method, array $fields): self
    {
        $join = static fn (array $values): string => implode(', ', array_map('strval', $values));
        return new self($method, array_map($join, array_change_key_case($fields)));
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
        return new self(is_string($method) ? $method : 'GET', [], $server);
    }

    /** A field's value; null without it. */
    public function field(string $name): ?string
    {
        $value = $this->fields[$name] ?? $this->server['HTTP_' . strtoupper(strtr($name, '-', '_'))] ?? null;
        return is_string($value) ? $value : null;
    }

    /**
     * How well the client accepts each coding, 0 to 1, from its Accept-Encoding (RFC 9110, section 12.5.3); only those that
     * are as good as identity, the preferred one first. A member that is not well formed is left out.
     *
     * Without the field everything would be acceptable; as servers do, such a client is sent identity, for it did not say
     * that it can decode anything. So is one whose field is longer than any browser's by far.
     *
     * @param list<string> $codings what could be sent beside identity, the preferred one first
     * @return list<string>
     */
    public function accepted(array $codings): array
    {
        $field = strtolower($this->field('accept-encoding') ?? '');
        $qualities = [];
        foreach (strlen($field) > self::MAX_BYTES ? [] : explode(',', $field) as $member) {
            if (preg_match(self::MEMBER, $member, $match) === 1) {
                $qualities[$match[1] === 'x-gzip' ? 'gzip' : $match[1]] = (float) ($match[2] ?? 1);
            }
        }
        $accepted = [];
        foreach ($codings as $at => $coding) {
            $quality = $qualities[$coding] ?? $qualities['*'] ?? 0.0;
            // Identity that is not named is the last resort, whatever `*` says.
            if ($quality > 0.0 && $quality >= ($qualities['identity'] ?? 0.0)) {
                // Those of the same quality keep their order; PHP 7 does not sort so by itself.
                $accepted[$coding] = [-$quality, $at];
            }
        }
        asort($accepted);
        return array_keys($accepted);
    }

    /** Whether its answer is sent as it is, against BREACH (README.md), by one of the words of `page.breach`. */
    public function isWithheld(string $setting): bool
    {
        return $setting !== 'off' && $this->isPersonal() && ($setting === 'cookies' || $this->isCrossSite());
    }

    /** Whether the browser sent by itself what may be a secret. */
    private function isPersonal(): bool
    {
        foreach (explode(';', $this->field('cookie') ?? '') as $cookie) {
            $cookie = trim($cookie);
            $end = strpos($cookie, '=');
            if ($cookie !== '' && ($end === false || preg_match(self::HARMLESS, substr($cookie, 0, $end)) !== 1)) {
                return true;
            }
        }
        $authorization = $this->field('authorization');
        if ($authorization !== null) {
            return in_array(strtolower(explode(' ', $authorization, 2)[0]), self::BY_BROWSERS, true);
        }
        // The server may have read credentials itself, or a certificate.
        $users = array_intersect_key($this->server, ['REMOTE_USER' => 1, 'PHP_AUTH_USER' => 1, 'PHP_AUTH_DIGEST' => 1]);
        return array_diff($users, ['']) !== [] || ($this->server['SSL_CLIENT_VERIFY'] ?? '') === 'SUCCESS';
    }

    /** Whether a page of another site had the browser send it, without the user's doing. */
    private function isCrossSite(): bool
    {
        $site = $this->field('sec-fetch-site');
        if ($site !== null) {
            $isByUser = $this->field('sec-fetch-mode') === 'navigate' && $this->field('sec-fetch-user') === '?1';
            return !$isByUser && !in_array($site, ['same-origin', 'same-site', 'none'], true);
        }
        // An old browser, which says less.
        $from = $this->field('origin') ?? $this->field('referer');
        [$host, $own] = [self::host((string) $from), self::host('//' . $this->field('host'))];
        $isRelated = substr($host, -strlen($own)) === $own || substr($own, -strlen($host)) === $host;
        return $from !== null && ($host === '.' || $own === '.' || !$isRelated);
    }

    /** The host of an address in small letters, after a dot; a dot alone where there is none. */
    private static function host(string $address): string
    {
        $host = parse_url($address, PHP_URL_HOST);
        return '.' . (is_string($host) ? strtolower($host) : '');
    }
}
