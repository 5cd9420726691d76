<?php

declare(strict_types=1);

namespace Weighbridge\Library\Symfony;

use Symfony\Component\HttpFoundation\Request as SymfonyRequest;
use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\HttpFoundation\StreamedResponse;
use Weighbridge\Library\Codec;
use Weighbridge\Library\CodecFailure;
use Weighbridge\Library\Head;
use Weighbridge\Library\Page;
use Weighbridge\Library\Request;
use Weighbridge\Library\Settings;
use Weighbridge\Library\Stream;
use Weighbridge\Library\StreamBuffer;

/** Encodes responses of Symfony's HttpFoundation, which Laravel's are, too. Files are left to the server. */
final class ResponseEncoder
{
    private Page $page;

    public function __construct(?Settings $settings = null, ?Codec $codec = null)
    {
        $this->page = new Page(($settings ?? Settings::defaults())->page, $codec);
    }

    /** Changes the response, whose content was not sent yet. */
    public function encode(SymfonyRequest $request, Response $response): void
    {
        if ($response instanceof DownloadResponse) {
            return;
        }
        $fields = [];
        foreach ($request->headers->all() as $name => $values) {
            $fields[strtolower((string) $name)] = implode(', ', array_map('strval', (array) $values));
        }
        $asked = new Request($request->getMethod(), $fields);
        // Cookies are kept apart: they do not matter here.
        $head = new Head($response->getStatusCode(), $response->headers->allPreserveCaseWithoutCookies());
        if ($response instanceof StreamedResponse) {
            $this->encodeStreamed($asked, $head, $response);
            return;
        }
        $content = $response->getContent();
        if ($content === false) {
            return;
        }
        [$body, $changes] = $this->page->encode($asked, $head, $content);
        self::set($response, $changes);
        if ($body !== $content) {
            $response->setContent($body);
        }
    }

    private function encodeStreamed(Request $request, Head $head, StreamedResponse $response): void
    {
        $plan = $this->page->plan($request, $head, null);
        try {
            $stream = $this->page->stream($plan);
        } catch (CodecFailure $failure) {
            $stream = null;
        }
        self::set($response, $plan->fields + ($stream === null ? [] : $plan->encoded));
        if ($stream !== null && $request->method !== 'HEAD') {
            self::wrap($response, $stream);
        }
    }

    /** Has the content go through the stream when the response is sent. */
    private static function wrap(StreamedResponse $response, Stream $stream): void
    {
        $inner = clone $response;
        $response->setCallback(static function () use ($inner, $stream): void {
            ob_start(new StreamBuffer($stream));
            try {
                $inner->sendContent();
            } finally {
                ob_end_flush();
            }
        });
    }

    /** @param array<string, string|null> $changes */
    private static function set(Response $response, array $changes): void
    {
        foreach ($changes as $name => $value) {
            if ($value === null) {
                $response->headers->remove($name);
            } else {
                $response->headers->set($name, $value);
            }
        }
    }
}
