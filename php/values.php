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
 *    "values": [{"id": "rows-4k", "family": "rows", "bytes": 4096, "instances": 96}]}
 *
 * One JSON line for each value and form goes to stdout: {"id", "form", "file"} or {"id", "form", "missing"}; with
 * `instances` also {"all": {"file", "items"}}: this many values of the same shape, one after the other, and their lengths.
 * The first of them is the value itself.
 *
 * `bytes` is the most that serialize() may produce; entries are taken in the order of the source and what no longer
 * fits is left out. Each instance begins at another entry of the source, at even distances; a catalogue of one language is
 * followed by those of others. Nothing here asks a clock or a random source, and orders are spelled out, so that every PHP from
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

/** Entries of a source, with the lengths of their serializations. */
final class Entries
{
    /** @var array */
    private $entries;

    /** @var array<array-key, int> */
    private $lengths = [];

    public function __construct(array $entries)
    {
        $this->entries = $entries;
        foreach ($entries as $key => $entry) {
            $this->lengths[$key] = strlen(serialize($entry));
        }
    }

    /**
     * The first entries from $place (0 to 1) on whose serialization stays within $limit bytes; an entry that does not fit is
     * passed over. The length of a serialized array is the sum over its entries, so nothing is serialized twice.
     */
    public function fill(int $limit, bool $keepKeys, float $place = 0.0): array
    {
        $taken = [];
        $used = 0;
        $keys = array_keys($this->entries);
        $begin = (int) floor($place * count($keys));
        $shortest = $keys === [] ? 0 : min($this->lengths) + strlen('i:0;');
        foreach (array_merge(array_slice($keys, $begin), array_slice($keys, 0, $begin)) as $key) {
            $frame = strlen('a:' . (count($taken) + 1) . ':{}');
            if ($used + $shortest + $frame > $limit) {
                break;
            }
            $length = $this->lengths[$key] + strlen(serialize($keepKeys ? $key : count($taken)));
            if ($used + $length + $frame > $limit) {
                continue;
            }
            $used += $length;
            if ($keepKeys) {
                $taken[$key] = $this->entries[$key];
            } else {
                $taken[] = $this->entries[$key];
            }
        }
        return $taken;
    }
}

/** Query rows: a table of airports as a database driver returns it, with numbers as numbers and absent as null. */
function rows(string $source): array
{
    $rows = [];
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
        $rows[] = $row;
    }
    return $rows;
}

/** A configuration tree: deep associative arrays, the interfaces of the web platform by name. */
function tree(string $source): array
{
    return json($source)['api'];
}

/** What a source has for a family. It is large, and many values are cut from it. */
function entries(string $family, string $source): Entries
{
    static $known = [];
    if (!isset($known["$family $source"])) {
        $known["$family $source"] = new Entries($family === 'rows' ? rows($source) : tree($source));
    }
    return $known["$family $source"];
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

/** Translations of one language; of the instance at $at those of another one, that has enough of them. */
function language(string $folder, int $limit, string $locale, int $at): array
{
    static $filled = [];
    if (!isset($filled["$folder $limit $locale"])) {
        $names = locales($folder);
        $begin = (int) array_search($locale, $names, true);
        $list = [];
        foreach (array_merge(array_slice($names, $begin), array_slice($names, 0, $begin)) as $name) {
            $texts = (new Entries(catalogue($folder, $name)))->fill($limit, true);
            if ($list === [] || strlen(serialize($texts)) >= 0.9 * $limit) {
                $list[] = $texts;
            }
        }
        $filled["$folder $limit $locale"] = $list;
    }
    $list = $filled["$folder $limit $locale"];
    if (!isset($list[$at])) {
        throw new \RuntimeException('only ' . count($list) . " languages have $limit bytes");
    }
    return $list[$at];
}

/** Translations of all languages: each message is there in every language that has it. */
function i18n(string $folder, int $limit): array
{
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

/** The metadata of all classes of a folder, in the order of the files; types are shared. */
function classes(string $folder): array
{
    static $known = [];
    if (!isset($known[$folder])) {
        $reader = new ClassReader();
        $known[$folder] = [];
        foreach (sources($folder) as $file) {
            $class = $reader->read((string) file_get_contents("$folder/$file"), $file);
            if ($class !== null) {
                $known[$folder][] = $class;
            }
        }
    }
    return $known[$folder];
}

/**
 * Class metadata as an object graph: class name => metadata. Shared types make lengths depend on what is there
 * already, so the whole is measured.
 */
function meta(string $folder, int $limit, float $place): array
{
    // The names of its properties alone take more.
    $shortest = 200;
    $taken = [];
    $used = 0;
    $classes = classes($folder);
    $begin = (int) floor($place * count($classes));
    foreach (array_merge(array_slice($classes, $begin), array_slice($classes, 0, $begin)) as $class) {
        if ($used + $shortest > $limit) {
            break;
        }
        $wider = $taken;
        $wider[$class->name] = $class;
        $length = strlen(serialize($wider));
        if ($length <= $limit) {
            $taken = $wider;
            $used = $length;
        }
    }
    return $taken;
}

/** The value a definition asks for: its instance of that number. */
function make(array $definition, string $source, int $at): array
{
    $limit = $definition['bytes'];
    $place = $at / max(1, $definition['instances'] ?? 1);
    $family = $definition['family'];
    switch ($family) {
        case 'rows':
        case 'tree':
            return entries($family, $source)->fill($limit, $family === 'tree', $place);
        case 'i18n':
            $locale = $definition['locale'] ?? '';
            return $locale === '' ? i18n($source, $limit) : language($source, $limit, $locale, $at);
        case 'meta':
            if (!function_exists('token_get_all')) {
                throw new \RuntimeException('this PHP has no tokenizer extension');
            }
            return meta($source, $limit, $place);
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

/** Writes a file of the results. */
function write(string $folder, string $file, string $bytes): void
{
    if (file_put_contents("$folder/$file", $bytes) !== strlen($bytes)) {
        throw new \RuntimeException("cannot write $file in $folder");
    }
}

/** Writes the instances of a value in one form; the line about it. */
function put(string $folder, string $id, string $form, array $instances): array
{
    $line = ['id' => $id, 'form' => $form];
    $items = [];
    foreach ($instances as $value) {
        $bytes = encode($value, $form);
        if ($bytes === null) {
            return $line + ['missing' => "this PHP has no $form extension"];
        }
        $items[] = $bytes;
    }
    $line['file'] = "$id." . FORMS[$form];
    write($folder, $line['file'], $items[0]);
    if (count($items) > 1) {
        $line['all'] = ['file' => "$id." . FORMS[$form] . '.all', 'items' => array_map('strlen', $items)];
        write($folder, $line['all']['file'], implode('', $items));
    }
    return $line;
}

function main(string $requestFile): int
{
    $request = json($requestFile);
    $failed = 0;
    foreach ($request['values'] as $definition) {
        $id = $definition['id'];
        $instances = [];
        $why = null;
        try {
            for ($at = 0; $at < max(1, $definition['instances'] ?? 1); ++$at) {
                $instances[] = make($definition, $request['inputs'][$definition['family']], $at);
            }
        } catch (\Throwable $problem) {
            $failed = 1;
            $why = $problem->getMessage();
        }
        foreach ($request['forms'] as $form) {
            $line = ['id' => $id, 'form' => $form];
            $line = $why === null ? put($request['out'], $id, $form, $instances) : $line + ['missing' => $why];
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
