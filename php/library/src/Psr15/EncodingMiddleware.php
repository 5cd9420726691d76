<?php

declare(strict_types=1);

namespace Weighbridge\Library\Psr15;

use Psr\Http\Message\ResponseInterface;
use Psr\Http\Message\ServerRequestInterface;
use Psr\Http\Message\StreamFactoryInterface;
use Psr\Http\Server\MiddlewareInterface;
use Psr\Http\Server\RequestHandlerInterface;
use Weighbridge\Library\Codec;
use Weighbridge\Library\Head;
use Weighbridge\Library\Page;
use Weighbridge\Library\Request;
use Weighbridge\Library\Settings;

/** Encodes whole responses of a PSR-15 application. A body of unknown size, or a large one, is sent as it is. */
final class EncodingMiddleware implements MiddlewareInterface
{
    /** Larger bodies are not read into memory. */
    private const MAX_BYTES = 1 << 24;

    private StreamFactoryInterface $streams;

    private Page $page;

    public function __construct(StreamFactoryInterface $streams, ?Settings $settings = null, ?Codec $codec = null)
    {
        $this->streams = $streams;
        $this->page = new Page(($settings ?? Settings::defaults())->page, $codec);
    }

    public function process(ServerRequestInterface $request, RequestHandlerInterface $handler): ResponseInterface
    {
        $response = $handler->handle($request);
        $original = $response->getBody();
        $size = $original->getSize();
        if ($size === null || $size > self::MAX_BYTES) {
            return $response;
        }
        $fields = [];
        foreach (array_keys($request->getHeaders()) as $name) {
            $fields[strtolower((string) $name)] = $request->getHeaderLine((string) $name);
        }
        $body = (string) $original;
        [$encoded, $changes] = $this->page->encode(
            new Request($request->getMethod(), $fields),
            new Head($response->getStatusCode(), $response->getHeaders()),
            $body
        );
        foreach ($changes as $name => $value) {
            $response = $value === null ? $response->withoutHeader($name) : $response->withHeader($name, $value);
        }
        // One that cannot go back to its beginning was used up.
        $isKept = $encoded === $body && $original->isSeekable();
        return $isKept ? $response : $response->withBody($this->streams->createStream($encoded));
    }
}
