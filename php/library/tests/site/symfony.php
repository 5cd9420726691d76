<?php

/**
 * An application of Symfony, or of Laravel with its middleware, that answers in each way that they have.
 */

declare(strict_types=1);

use Illuminate\Http\Request as LaravelRequest;
use Symfony\Component\EventDispatcher\EventDispatcher;
use Symfony\Component\HttpFoundation\BinaryFileResponse;
use Symfony\Component\HttpFoundation\JsonResponse;
use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\HttpFoundation\StreamedResponse;
use Symfony\Component\HttpKernel\Controller\ArgumentResolver;
use Symfony\Component\HttpKernel\Controller\ControllerResolver;
use Symfony\Component\HttpKernel\EventListener\ResponseListener as SymfonyResponseListener;
use Symfony\Component\HttpKernel\HttpKernel;
use Weighbridge\Library\Laravel\EncodeResponse;
use Weighbridge\Library\Symfony\ResponseEncoder;

error_reporting(E_ALL & ~E_DEPRECATED);
set_include_path('/usr/share/php');
require __DIR__ . '/../../autoload.php';
foreach (['Symfony/Polyfill/Php80', 'Symfony/Component/HttpKernel', 'Illuminate/Http'] as $package) {
    if (is_file("/usr/share/php/$package/autoload.php")) {
        require_once "/usr/share/php/$package/autoload.php";
    }
}
$text = str_repeat("A line of the page, with some words in it.\n", 200);
$streamed = static function (callable $print, string $type = 'text/plain'): Response {
    return new StreamedResponse($print, 200, ['Content-Type' => $type]);
};
$answers = [
    'page' => static function () use ($text): Response {
        return new Response($text . $text);
    },
    'json' => static function () use ($text): Response {
        return JsonResponse::fromJsonString($text . $text);
    },
    'esi' => static function () use ($text): Response {
        return new Response($text . $text, 200, ['Surrogate-Control' => 'content="ESI/1.0"']);
    },
    'file' => static function (): Response {
        $file = (string) tempnam(sys_get_temp_dir(), 'weighbridge');
        file_put_contents($file, str_repeat('a file ', 714) . 'aa');
        return (new BinaryFileResponse($file, 200, ['Content-Type' => 'text/plain']))->deleteFileAfterSend(true);
    },
    'streamed' => static function () use ($streamed, $text): Response {
        return $streamed(static function () use ($text): void {
            echo $text, $text;
        });
    },
    'flushed' => static function () use ($streamed, $text): Response {
        return $streamed(static function () use ($text): void {
            echo $text;
            ob_flush();
            flush();
            echo $text;
        });
    },
    'long' => static function () use ($streamed): Response {
        return $streamed(static function (): void {
            for ($i = 0; $i < 60; $i++) {
                echo str_repeat('0123456789abcdef', 1 << 16);
            }
        });
    },
    'closed' => static function () use ($streamed, $text): Response {
        return $streamed(static function () use ($text): void {
            echo $text;
            while (ob_get_level() > 0) {
                ob_end_flush();
            }
            echo $text;
        });
    },
    'events' => static function () use ($streamed, $text): Response {
        return $streamed(static function () use ($text): void {
            echo $text, $text;
        }, 'text/event-stream');
    },
    'conditional' => static function (Request $request) use ($text): Response {
        // As applications do that compare by themselves.
        $isKnown = $request->headers->get('If-None-Match') === '"abc"';
        return new Response($isKnown ? '' : $text, $isKnown ? 304 : 200, ['ETag' => '"abc"']);
    },
];
$answer = $answers[$_GET['case']];
if (isset($_GET['laravel'])) {
    $request = LaravelRequest::capture();
    $response = (new EncodeResponse())->handle($request, static function (Request $request) use ($answer): Response {
        return $answer($request)->prepare($request);
    });
    $response->send();
    return;
}
$dispatcher = new EventDispatcher();
$dispatcher->addSubscriber(new SymfonyResponseListener('UTF-8'));
$dispatcher->addSubscriber(new ResponseEncoder());
$kernel = new HttpKernel($dispatcher, new ControllerResolver(), null, new ArgumentResolver());
$request = Request::createFromGlobals();
$request->attributes->set('_controller', $answer);
$response = $kernel->handle($request);
$response->send();
$kernel->terminate($request, $response);
