<?php

/**
 * Makes the corpus's PHP values: what applications keep in their caches, built from real data.
 *
 *   php values.php REQUEST.json
 *   php values.php --forms        one JSON line: {"php": "8.2.0", "forms": {"serialize": "8.2.0", "igbinary": "3.2.13"}}
 *
 * The request names the inputs, an empty folder for the results, the values and their forms:
 *
 *   {"out": "/dir", "inputs": {"rows": "airports.json", "tree": "data.json", "i18n": "cldr/main", "meta": "src"},
 *    "forms": ["serialize", "igbinary", "msgpack", "var_export"],
 *    "values": [{"id": "rows-4k", "family": "rows", "bytes": 4096}]}
 *
 * One JSON line for each value and form goes to stdout: {"id", "form", "file"} or {"id", "form", "missing"}.
 *
 * `bytes` is the most that serialize() may produce; entries are taken in the order of the source and what no longer
 * fits is left out. Nothing here asks a clock or a random source, and orders are spelled out, so that every PHP from
 * 7.4 on writes the same serialize() bytes, which the corpus pins. PHP sources are read by the tokenizer and never
 * executed.
 */

declare(strict_types=1);

namespace Weighbridge\Values;

require __DIR__ . '/values-classes.php';

ini_set('serialize_precision', '-1');
ini_set('memory_limit', '1G');

const FORMS = ['serialize' => 'ser', 'igbinary' => 'igb', 'msgpack' => 'msgpack', 'var_export' => 'php.txt'];

/** The decoded content of a JSON file. */
function json(string $path): array
{
    $text = file_get_contents($path);
    if ($text === false) {
        throw new \RuntimeException("cannot read $path");
    }
    return json_decode($text, true, 512, JSON_THROW_ON_ERROR);
}

/**
 * The first entries whose serialization stays within $limit bytes; an entry that does not fit is passed over.
 * The length of a serialized array is the sum over its entries, so nothing is serialized twice.
 */
function fill(iterable $entries, int $limit, bool $keepKeys): array
{
    $taken = [];
    $used = 0;
    foreach ($entries as $key => $entry) {
        $length = strlen(serialize($entry)) + strlen(serialize($keepKeys ? $key : count($taken)));
        $frame = strlen('a:' . (count($taken) + 1) . ':{}');
        if ($used + $length + $frame > $limit) {
            continue;
        }
        $used += $length;
        if ($keepKeys) {
            $taken[$key] = $entry;
        } else {
            $taken[] = $entry;
        }
    }
    return $taken;
}

/** Query rows: a table of airports as a database driver returns it, with numbers as numbers and absent as null. */
function rows(string $source): iterable
{
    foreach (json($source) as $record) {
        $row = [];
        foreach ($record as $column => $text) {
            if ($text === '') {
                $row[$column] = null;
            } elseif ($column === 'id' || $column === 'elevation_ft') {
                $row[$column] = (int) $text;
            } elseif ($column === 'latitude_deg' || $column === 'longitude_deg') {
                $row[$column] = (float) $text;
            } else {
                $row[$column] = $text;
            }
        }
        yield $row;
    }
}

/** A configuration tree: deep associative arrays, the interfaces of the web platform by name. */
function tree(string $source): array
{
    // The source is large and several values are cut from it.
    static $trees = [];
    if (!isset($trees[$source])) {
        $trees[$source] = json($source)['api'];
    }
    return $trees[$source];
}

/** The catalogue of one locale: message id => text. */
function catalogue(string $folder, string $locale): array
{
    $texts = [];
    foreach (['territories' => 'territory', 'languages' => 'language', 'scripts' => 'script'] as $part => $prefix) {
        $file = "$folder/$locale/$part.json";
        if (!is_file($file)) {
            continue;
        }
        foreach (json($file)['main'][$locale]['localeDisplayNames'][$part] as $code => $text) {
            $texts["$prefix.$code"] = $text;
        }
    }
    return $texts;
}

/** The locales of a folder that are not the regional variant of another one. */
function locales(string $folder): array
{
    $names = array_filter(scandir($folder) ?: [], static function (string $name): bool {
        return preg_match('~^[a-z]{2,3}(-[A-Z][a-z]{3})?$~D', $name) === 1;
    });
    sort($names, SORT_STRING);
    return $names;
}

/** Translations of one language, or of all of them: then each message is there in every language that has it. */
function i18n(string $folder, int $limit, string $locale): array
{
    if ($locale !== '') {
        return fill(catalogue($folder, $locale), $limit, true);
    }
    $all = [];
    $used = strlen('a:9999:{}');
    foreach (locales($folder) as $name) {
        $texts = catalogue($folder, $name);
        if ($texts !== []) {
            $all[$name] = $texts;
            $used += strlen(serialize($name)) + strlen('a:9999:{}');
        }
    }
    $kept = [];
    foreach (array_keys(array_merge(...array_values($all))) as $id) {
        $length = 0;
        foreach ($all as $texts) {
            $length += isset($texts[$id]) ? strlen(serialize($id) . serialize($texts[$id])) : 0;
        }
        if ($used + $length <= $limit) {
            $used += $length;
            $kept[$id] = true;
        }
    }
    return array_map(static function (array $texts) use ($kept): array {
        return array_intersect_key($texts, $kept);
    }, $all);
}

/** The PHP files of a folder, by relative path in byte order. */
function sources(string $folder): array
{
    $found = [];
    $walk = new \RecursiveIteratorIterator(
        new \RecursiveDirectoryIterator($folder, \FilesystemIterator::SKIP_DOTS)
    );
    foreach ($walk as $file) {
        if ($file->getExtension() === 'php') {
            $found[] = substr($file->getPathname(), strlen($folder) + 1);
        }
    }
    sort($found, SORT_STRING);
    return $found;
}

/**
 * Class metadata as an object graph: class name => metadata. Shared types make lengths depend on what is there
 * already, so the whole is measured.
 */
function meta(string $folder, int $limit): array
{
    $reader = new ClassReader();
    $taken = [];
    foreach (sources($folder) as $file) {
        $class = $reader->read((string) file_get_contents("$folder/$file"), $file);
        if ($class === null) {
            continue;
        }
        $wider = $taken;
        $wider[$class->name] = $class;
        if (strlen(serialize($wider)) <= $limit) {
            $taken = $wider;
        }
    }
    return $taken;
}

/** The value a definition asks for. */
function make(array $definition, string $source): array
{
    $limit = $definition['bytes'];
    switch ($definition['family']) {
        case 'rows':
            return fill(rows($source), $limit, false);
        case 'tree':
            return fill(tree($source), $limit, true);
        case 'i18n':
            return i18n($source, $limit, $definition['locale'] ?? '');
        case 'meta':
            if (!function_exists('token_get_all')) {
                throw new \RuntimeException('this PHP has no tokenizer extension');
            }
            return meta($source, $limit);
        default:
            throw new \RuntimeException("no family named {$definition['family']}");
    }
}

/** The forms that this PHP can write, with the version of what writes them. */
function forms(): array
{
    $forms = ['serialize' => PHP_VERSION, 'var_export' => PHP_VERSION];
    foreach (['igbinary', 'msgpack'] as $extension) {
        if (extension_loaded($extension)) {
            $forms[$extension] = (string) phpversion($extension);
        }
    }
    return $forms;
}

/** The value in one form; null when this PHP lacks the extension. */
function encode(array $value, string $form): ?string
{
    switch ($form) {
        case 'serialize':
            return serialize($value);
        case 'igbinary':
            return function_exists('igbinary_serialize') ? (string) igbinary_serialize($value) : null;
        case 'msgpack':
            return function_exists('msgpack_pack') ? (string) msgpack_pack($value) : null;
        default:
            return "<?php\nreturn " . var_export($value, true) . ";\n";
    }
}

function main(string $requestFile): int
{
    $request = json($requestFile);
    $failed = 0;
    foreach ($request['values'] as $definition) {
        $id = $definition['id'];
        $why = null;
        try {
            $value = make($definition, $request['inputs'][$definition['family']]);
        } catch (\Throwable $problem) {
            $failed = 1;
            $value = null;
            $why = $problem->getMessage();
        }
        foreach ($request['forms'] as $form) {
            $line = ['id' => $id, 'form' => $form];
            $bytes = $value === null ? null : encode($value, $form);
            if ($bytes === null) {
                $line['missing'] = $why ?? "this PHP has no $form extension";
            } else {
                $line['file'] = "$id." . FORMS[$form];
                if (file_put_contents("{$request['out']}/{$line['file']}", $bytes) !== strlen($bytes)) {
                    throw new \RuntimeException("cannot write {$line['file']} in {$request['out']}");
                }
            }
            echo json_encode($line, JSON_THROW_ON_ERROR), "\n";
        }
    }
    return $failed;
}

if ($argc !== 2) {
    fwrite(STDERR, "usage: php values.php REQUEST.json | --forms\n");
    exit(64);
}
if ($argv[1] === '--forms') {
    echo json_encode(['php' => PHP_VERSION, 'forms' => forms()], JSON_THROW_ON_ERROR), "\n";
    exit(0);
}
exit(main($argv[1]));
