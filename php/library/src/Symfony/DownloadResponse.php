<?php

declare(strict_types=1);

namespace Weighbridge\Library\Symfony;

use Symfony\Component\HttpFoundation\Request as SymfonyRequest;
use Symfony\Component\HttpFoundation\StreamedResponse;
use Weighbridge\Library\Download;
use Weighbridge\Library\Request;
use Weighbridge\Library\Settings;

/** A download as a response of Symfony and of Laravel. */
final class DownloadResponse extends StreamedResponse
{
    public function __construct(Download $download)
    {
        parent::__construct([$download, 'output'], $download->status, $download->fields);
    }

    /**
     * The response to this request; the other parameters are those of `Download::prepare()`.
     *
     * @param array<string, mixed> $options
     */
    public static function to(SymfonyRequest $request, string $path, array $options = [], ?Settings $settings = null): self
    {
        return new self(Download::prepare($path, $options, $settings, Request::current($request->server->all())));
    }
}
