<?php

declare(strict_types=1);

namespace Weighbridge\Library\Psr7;

use Psr\Http\Message\ResponseFactoryInterface;
use Psr\Http\Message\ResponseInterface;
use Psr\Http\Message\ServerRequestInterface;
use Psr\Http\Message\StreamInterface;
use Weighbridge\Library\Download;
use Weighbridge\Library\DownloadFailure;
use Weighbridge\Library\Request;
use Weighbridge\Library\Settings;

/** The content of a download as PSR-7 has it: read once, from its beginning, in pieces. */
final class DownloadBody implements StreamInterface
{
    private Download $download;

    private int $position = 0;

    public function __construct(Download $download)
    {
        $this->download = $download;
    }

    /**
     * The response to this request; the other parameters are those of `Download::prepare()`.
     *
     * @param array<string, mixed> $options
     */
    public static function respond(
        ServerRequestInterface $request,
        ResponseFactoryInterface $responses,
        string $path,
        array $options = [],
        ?Settings $settings = null
    ): ResponseInterface {
        $asked = Request::of($request->getMethod(), $request->getHeaders());
        $download = Download::prepare($path, $options, $settings, $asked);
        $response = $responses->createResponse($download->status)->withBody(new self($download));
        foreach ($download->fields as $name => $value) {
            $response = $response->withHeader($name, $value);
        }
        return $response;
    }

    public function __toString(): string
    {
        return $this->getContents();
    }

    public function close(): void
    {
    }

    /** @return null */
    public function detach()
    {
        return null;
    }

    /** Not said: what encodes or copies bodies of known size leaves this one alone. Content-Length says it. */
    public function getSize(): ?int
    {
        return null;
    }

    public function tell(): int
    {
        return $this->position;
    }

    public function eof(): bool
    {
        return $this->download->isRead();
    }

    public function isSeekable(): bool
    {
        return false;
    }

    public function seek($offset, $whence = SEEK_SET): void
    {
        throw new DownloadFailure('the content of a download is read once, from its beginning');
    }

    public function rewind(): void
    {
        $this->seek(0);
    }

    public function isWritable(): bool
    {
        return false;
    }

    public function write($string): int
    {
        throw new DownloadFailure('the content of a download is not written to');
    }

    public function isReadable(): bool
    {
        return true;
    }

    public function read($length): string
    {
        $piece = $this->download->read((int) $length);
        $this->position += strlen($piece);
        return $piece;
    }

    public function getContents(): string
    {
        $content = '';
        while (($piece = $this->read(1 << 17)) !== '') {
            $content .= $piece;
        }
        return $content;
    }

    /** @return array<string, mixed>|null */
    public function getMetadata($key = null)
    {
        return $key === null ? [] : null;
    }
}
