<?php

declare(strict_types=1);

namespace Weighbridge\Library\Laravel;

use Closure;
use Illuminate\Http\Request;
use Symfony\Component\HttpFoundation\Response;
use Weighbridge\Library\Settings;
use Weighbridge\Library\Symfony\ResponseEncoder;

/** Encodes the responses of a Laravel application: the first of its global middleware. */
final class EncodeResponse
{
    private ResponseEncoder $encoder;

    /** @param Settings|null $settings null: safe defaults; a service provider binds others to the class `Settings` */
    public function __construct(?Settings $settings = null)
    {
        $this->encoder = new ResponseEncoder($settings);
    }

    /** @return mixed what the application answers */
    public function handle(Request $request, Closure $next)
    {
        $this->encoder->prepare($request);
        $response = $next($request);
        if ($response instanceof Response) {
            // Laravel prepares responses in its router, before the middleware sees them.
            $this->encoder->encode($request, $response);
        }
        return $response;
    }
}
