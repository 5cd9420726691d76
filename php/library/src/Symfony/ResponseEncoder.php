<?php

declare(strict_types=1);

namespace Weighbridge\Library\Symfony;

use Symfony\Component\EventDispatcher\EventSubscriberInterface;
use Symfony\Component\HttpFoundation\Request as SymfonyRequest;
use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\HttpFoundation\StreamedResponse;
use Symfony\Component\HttpKernel\Event\RequestEvent;
use Symfony\Component\HttpKernel\Event\ResponseEvent;
use Symfony\Component\HttpKernel\KernelEvents;
use Weighbridge\Library\Codec;
use Weighbridge\Library\Head;
use Weighbridge\Library\OutputHandler;
use Weighbridge\Library\Page;
use Weighbridge\Library\Request;
use Weighbridge\Library\Settings;

/** Encodes responses of Symfony's HttpFoundation, which Laravel's are, too. Files are left to the server. */
final class ResponseEncoder implements EventSubscriberInterface
{
    /** The request's attribute that keeps If-None-Match as the client sent it. */
    private const ASKED = '_weighbridge_if_none_match';

    /** After all that change the content and the session's, before what sends a streamed response. */
    private const PRIORITY = -1010;

    private Page $page;

    private ?Settings $settings;

    private ?Codec $codec;

    public function __construct(?Settings $settings = null, ?Codec $codec = null)
    {
        [$this->page, $this->settings, $this->codec] = [new Page($settings, $codec), $settings, $codec];
    }

    public function onRequest(RequestEvent $event): void
    {
        if ($event->isMainRequest()) {
            $this->prepare($event->getRequest());
        }
    }

    public function onResponse(ResponseEvent $event): void
    {
        // Responses of fragments become part of the main one.
        if ($event->isMainRequest()) {
            $this->encode($event->getRequest(), $event->getResponse());
        }
    }

    /** @return array<string, array{string, int}> */
    public static function getSubscribedEvents(): array
    {
        return [
            KernelEvents::REQUEST => ['onRequest', -self::PRIORITY],
            KernelEvents::RESPONSE => ['onResponse', self::PRIORITY],
        ];
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
        $sent = $request->attributes->get(self::ASKED);
        $sent = is_string($sent) ? ['if-none-match' => [$sent]] : [];
        $asked = Request::of($request->getMethod(), $sent + $request->headers->all());
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
        array_map([$response->headers, 'remove'], array_keys($changes));
        $response->headers->add(array_filter($changes, 'is_string'));
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
