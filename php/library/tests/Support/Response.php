<?php

declare(strict_types=1);

namespace Weighbridge\Library\Tests\Support;

use Weighbridge\Library\Binding\BrotliExtension;
use Weighbridge\Library\Binding\LibBrotli;
use Weighbridge\Library\Binding\LibZstd;
use Weighbridge\Library\Binding\ZlibExtension;
use Weighbridge\Library\Codec;

/** A response as it came over a socket, to the connection's end. */
final class Response
{
    public int $status;

    /** @var array<string, string> by names in small letters */
    public array $fields = [];

    /** As it was sent: still encoded. */
    public string $body = '';

    /** @var list<string> what came together, with at least 100 ms between one and the next */
    public array $parts = [];

    /** @param resource $socket */
    public function __construct($socket)
    {
        $this->status = (int) substr((string) fgets($socket), 9, 3);
        while (($line = trim((string) fgets($socket))) !== '') {
            [$name, $value] = explode(':', $line, 2) + [1 => ''];
            $name = strtolower($name);
            $this->fields[$name] = isset($this->fields[$name]) ? "{$this->fields[$name]}, " . trim($value) : trim($value);
        }
        $last = 0.0;
        while (!feof($socket) && ($read = fread($socket, 1 << 16)) !== false) {
            if ($read !== '') {
                $now = microtime(true);
                if ($now - $last > 0.1) {
                    $this->parts[] = '';
                }
                $this->parts[count($this->parts) - 1] .= $read;
                $last = $now;
            }
        }
        fclose($socket);
        $this->body = implode('', $this->parts);
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
        $codec = new Codec([new ZlibExtension(), new BrotliExtension(), new LibBrotli(), new LibZstd()]);
        return $codec->decode($this->body, $this->field('content-encoding') ?? 'identity', 1 << 26);
    }
}
