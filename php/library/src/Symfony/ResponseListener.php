<?php

declare(strict_types=1);

namespace Weighbridge\Library\Symfony;

use Symfony\Component\EventDispatcher\EventSubscriberInterface;
use Symfony\Component\HttpKernel\Event\RequestEvent;
use Symfony\Component\HttpKernel\Event\ResponseEvent;
use Symfony\Component\HttpKernel\KernelEvents;

/** Encodes the responses of a Symfony application. */
final class ResponseListener implements EventSubscriberInterface
{
    /** After all that change the content and the session's, before what sends a streamed response. */
    private const PRIORITY = -1010;

    private ResponseEncoder $encoder;

    public function __construct(?ResponseEncoder $encoder = null)
    {
        $this->encoder = $encoder ?? new ResponseEncoder();
    }

    public function onRequest(RequestEvent $event): void
    {
        if ($event->isMainRequest()) {
            $this->encoder->prepare($event->getRequest());
        }
    }

    public function onResponse(ResponseEvent $event): void
    {
        // Responses of fragments become part of the main one.
        if ($event->isMainRequest()) {
            $this->encoder->encode($event->getRequest(), $event->getResponse());
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
}
