<?php

declare(strict_types=1);

namespace Weighbridge\Library\Psr7;

use Psr\Http\Message\ResponseFactoryInterface;
use Psr\Http\Message\ResponseInterface;
use Psr\Http\Message\ServerRequestInterface;
use Psr\Http\Message\StreamFactoryInterface;
use Weighbridge\Library\Download;
use Weighbridge\Library\Request;
use Weighbridge\Library\Settings;

/** A download as a response of PSR-7, which has no streams of a part: the whole file, unless the web server sends it. */
final class DownloadResponse
{
    /**
     * The response to this request; it ends the session. The other parameters are those of `Download::prepare()`.
     *
     * @param ResponseFactoryInterface&StreamFactoryInterface $factory
     * @param array<string, mixed>                            $options
     */
    public static function to(
        ServerRequestInterface $request,
        object $factory,
        string $path,
        array $options = [],
        ?Settings $settings = null
    ): ResponseInterface {
        $asked = Request::of($request->getMethod(), $request->withoutHeader('Range')->getHeaders());
        $download = Download::prepare($path, $options, $settings, $asked);
        $response = $factory->createResponse($download->status);
        foreach (array_diff_key($download->fields, ['Accept-Ranges' => '']) as $name => $value) {
            $response = $response->withHeader($name, $value);
        }
        // The visitor's other requests need not wait until it was sent.
        if (session_status() === PHP_SESSION_ACTIVE) {
            session_write_close();
        }
        $isSent = $download->handle !== null && $asked->method !== 'HEAD';
        return $isSent ? $response->withBody($factory->createStreamFromResource($download->handle)) : $response;
    }
}
