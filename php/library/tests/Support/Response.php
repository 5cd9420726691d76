<?php

declare(strict_types=1);

namespace Weighbridge\Library\Tests\Support;

use Weighbridge\Library\Binding\Extensions;
use Weighbridge\Library\Binding\Libraries;
use Weighbridge\Library\Codec;

/** A response as it came over a socket, to the connection's end. */
final class Response
{
    public int $status;

    /** @var array<string, string> by names in small letters */
    public array $fields = [];

    /** As it was sent: still encoded. */
    public string $body = '';

    /**
     * @param resource                     $socket
     * @param (callable(string): void)|null $seen  is given the body as far as it came, each time that more of it came
     */
    public function __construct($socket, ?callable $seen = null)
    {
        $this->status = (int) substr((string) fgets($socket), 9, 3);
        while (($line = trim((string) fgets($socket))) !== '') {
            [$name, $value] = explode(':', $line, 2) + [1 => ''];
            $name = strtolower($name);
            $this->fields[$name] = isset($this->fields[$name]) ? "{$this->fields[$name]}, " . trim($value) : trim($value);
        }
        while (!feof($socket)) {
            // More than PHP has buffered would wait for what comes next.
            $buffered = stream_get_meta_data($socket)['unread_bytes'];
            $read = (string) fread($socket, $buffered > 0 ? $buffered : 1 << 16);
            $this->body .= $read;
            if ($read !== '' && $seen !== null) {
                $seen($this->body);
            }
        }
        fclose($socket);
    }

    /** A field's value; null without it. */
    public function field(string $name): ?string
    {
        return $this->fields[$name] ?? null;
    }

    /** The body as a client sees it. */
    public function content(): string
    {
        // A stream of zstd does not state its size, and its extension decodes none of those.
        $codec = new Codec([new Libraries(), new Extensions()]);
        return $codec->decode($this->body, $this->field('content-encoding') ?? 'identity', 1 << 26);
    }
}
