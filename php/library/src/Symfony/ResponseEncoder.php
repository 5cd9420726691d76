<?php

declare(strict_types=1);

namespace Weighbridge\Library\Symfony;

use Symfony\Component\HttpFoundation\Request as SymfonyRequest;
use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\HttpFoundation\StreamedResponse;
use Weighbridge\Library\Codec;
use Weighbridge\Library\Head;
use Weighbridge\Library\OutputHandler;
use Weighbridge\Library\Page;
use Weighbridge\Library\Request;
use Weighbridge\Library\Settings;
use Weighbridge\Library\Settings\Pages;

/** Encodes responses of Symfony's HttpFoundation, which Laravel's are, too. Files are left to the server. */
final class ResponseEncoder
{
    /** The request's attribute that keeps If-None-Match as the client sent it. */
    private const ASKED = '_weighbridge_if_none_match';

    private Page $page;

    private ?Settings $settings;

    private ?Codec $codec;

    public function __construct(?Settings $settings = null, ?Codec $codec = null)
    {
        $this->page = new Page($settings === null ? new Pages() : $settings->page, $codec);
        $this->settings = $settings;
        $this->codec = $codec;
    }

    /** Lets the application compare the tags that it gave, before it sees the request. */
    public function prepare(SymfonyRequest $request): void
    {
        $asked = $request->headers->get('If-None-Match');
        if ($asked !== null && !$request->attributes->has(self::ASKED)) {
            $request->attributes->set(self::ASKED, $asked);
            $request->headers->set('If-None-Match', Page::withStrongTags($asked));
        }
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
        $asked = $request->attributes->get(self::ASKED);
        $asked = new Request($request->getMethod(), (is_string($asked) ? ['if-none-match' => $asked] : []) + $fields);
        if ($response instanceof StreamedResponse && $asked->method !== 'HEAD') {
            $this->wrap($asked, $response);
            return;
        }
        $content = $response instanceof StreamedResponse ? '' : $response->getContent();
        if ($content === false) {
            return;
        }
        // Cookies are kept apart: they do not matter here.
        $head = new Head($response->getStatusCode(), $response->headers->allPreserveCaseWithoutCookies());
        [$body, $changes] = $this->page->encode($asked, $head, $content);
        foreach ($changes as $name => $value) {
            if ($value === null) {
                $response->headers->remove($name);
            } else {
                $response->headers->set($name, $value);
            }
        }
        if ($body !== $content) {
            $response->setContent($body);
        }
    }

    /** Has the content go through an output handler when the response is sent, which sets the header fields, too. */
    private function wrap(Request $request, StreamedResponse $response): void
    {
        $inner = clone $response;
        $handler = new OutputHandler($this->settings, $request, $this->codec);
        $response->setCallback(static function () use ($inner, $handler): void {
            $isOpen = $handler->open();
            $level = ob_get_level();
            try {
                $inner->sendContent();
            } finally {
                if ($isOpen) {
                    OutputHandler::close($level);
                }
            }
        });
    }
}
