<?php

/**
 * What code of a site can reach through preloaded classes where only those may use FFI: every method of the library is
 * called with declarations of its own, and whatever it gives is asked for a function that no codec has.
 */

declare(strict_types=1);

use Weighbridge\Library\Binding\Libraries;

require __DIR__ . '/../../autoload.php';

const DECLARATION = 'int system(const char *command);';

/** Whether the value is, or holds, what calls `system`. */
function opensSystem($value, int $depth = 3): bool
{
    if ($value instanceof FFI) {
        try {
            $value->system('true');
            return true;
        } catch (FFI\Exception $error) {
            return false;
        }
    }
    foreach ($depth > 0 && is_array($value) ? $value : [] as $one) {
        if (opensSystem($one, $depth - 1)) {
            return true;
        }
    }
    foreach ($depth > 0 && is_object($value) ? (new ReflectionObject($value))->getProperties() : [] as $property) {
        $property->setAccessible(true);
        if ($property->isInitialized($value) && opensSystem($property->getValue($value), $depth - 1)) {
            return true;
        }
    }
    return false;
}

/** @return list<mixed> arguments of the types that the method asks for, with these texts one after the other */
function arguments(ReflectionFunctionAbstract $method, array $texts): array
{
    $arguments = [];
    foreach ($method->getParameters() as $parameter) {
        $type = $parameter->getType();
        $name = $type instanceof ReflectionNamedType ? $type->getName() : 'string';
        $values = ['int' => 1, 'bool' => true, 'array' => [], 'iterable' => [], 'float' => 1.0];
        $values += ['callable' => [FFI::class, 'cdef'], 'Closure' => Closure::fromCallable([FFI::class, 'cdef'])];
        if ($name === 'string') {
            $arguments[] = $texts[0];
            $texts = [$texts[1], $texts[0]];
        } else {
            $arguments[] = $values[$name] ?? null;
        }
    }
    return $arguments;
}

$reached = [];
try {
    FFI::cdef(DECLARATION);
    $reached[] = 'FFI::cdef';
} catch (FFI\Exception $error) {
    // As it is to be.
}
$tried = 0;
foreach (array_merge(glob(__DIR__ . '/../../src/Binding/*.php'), glob(__DIR__ . '/../../src/*.php')) as $file) {
    $inner = strpos($file, '/Binding/') === false ? '' : 'Binding\\';
    $class = 'Weighbridge\\Library\\' . $inner . basename($file, '.php');
    try {
        if (!class_exists($class)) {
            continue;
        }
    } catch (Throwable $error) {
        // A framework's class is absent.
        continue;
    }
    $class = new ReflectionClass($class);
    foreach ($class->getMethods() as $method) {
        if (in_array($method->name, ['open', 'start', 'close', '__destruct'], true) && $inner === '') {
            continue;
        }
        foreach ([[DECLARATION, 'libc.so.6'], ['libc.so.6', DECLARATION]] as $texts) {
            $tried++;
            try {
                $object = null;
                if (!$method->isStatic()) {
                    $constructor = $class->getConstructor();
                    $object = $class->newInstanceWithoutConstructor();
                    if ($constructor !== null) {
                        $constructor->invokeArgs($object, arguments($constructor, $texts));
                    }
                }
                $method->setAccessible(true);
                $given = [$method->invokeArgs($object, arguments($method, $texts)), $object];
            } catch (Throwable $error) {
                continue;
            }
            if (opensSystem([$given, $class->getStaticProperties()])) {
                $reached[] = "$class->name::$method->name";
            }
        }
    }
}
$codec = new Weighbridge\Library\Codec([new Libraries()]);
$encoded = $codec->encode('content', 'zstd');
header('Content-Type: application/json');
echo json_encode([
    'tried' => $tried,
    'reached' => array_values(array_unique($reached)),
    'binding' => $codec->binding('zstd', Weighbridge\Library\Binding\Binding::ENCODE),
    'content' => $codec->decode($encoded, 'zstd', 100) . $codec->decode($codec->stream('br')->finish(), 'br', 100),
    'preloaded' => opcache_get_status(false)['preload_statistics']['classes'] ?? [],
]);
