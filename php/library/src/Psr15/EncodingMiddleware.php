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
        $this->page = new Page($settings, $codec);
    }

    public function process(ServerRequestInterface $request, RequestHandlerInterface $handler): ResponseInterface
    {
        $asked = Request::of($request->getMethod(), $request->getHeaders());
        $tags = $asked->field('if-none-match');
        if ($tags !== null) {
            $request = $request->withHeader('If-None-Match', Page::withStrongTags($tags));
        }
        $response = $handler->handle($request);
        $head = new Head($response->getStatusCode(), $response->getHeaders());
        $original = $response->getBody();
        $size = $original->getSize();
        // A pipe has no size, or 0: there is no telling how long its content is, and when it comes.
        $isRead = $size !== null && $size > 0 && $size <= self::MAX_BYTES;
        if ($isRead && $this->page->plan($asked, $head, $size)[0] !== null) {
            $body = (string) $original;
            [$encoded, $changes] = $this->page->encode($asked, $head, $body);
            // One that cannot go back to its beginning was used up.
            if ($encoded !== $body || !$original->isSeekable()) {
                $response = $response->withBody($this->streams->createStream($encoded));
            }
        } else {
            $changes = $this->page->encode($asked, $head, '')[1];
        }
        foreach ($changes as $name => $value) {
            $response = $value === null ? $response->withoutHeader($name) : $response->withHeader($name, $value);
        }
        return $response;
    }
}
