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
 * The tokens of a source as [kind, text, line], without white space and plain comments. A qualified name is one
 * token, as since PHP 8, also where the tokenizer still cuts it at its separators.
 */
function tokens(string $code): array
{
    $list = [];
    $line = 1;
    $joins = false;
    foreach (token_get_all($code) as $token) {
        [$kind, $text] = is_array($token) ? $token : [0, $token];
        $name = preg_match('~^[A-Za-z_\x80-\xff\\\\][A-Za-z0-9_\x80-\xff\\\\]*$~D', $text) === 1;
        $last = count($list) - 1;
        $separator = $text[0] === '\\' || ($last >= 0 && substr($list[$last][1], -1) === '\\');
        if ($joins && $name && $separator) {
            $list[$last][1] .= $text;
        } elseif ($kind !== T_WHITESPACE && $kind !== T_COMMENT) {
            $list[] = [$name && $text[0] === '\\' ? T_STRING : $kind, $text, $line];
        }
        $joins = $name;
        $line += substr_count($text, "\n");
    }
    return $list;
}

/** Reads the metadata of classes out of tokens. Types are shared objects, as in a real mapping. */
final class ClassReader
{
    private const MODIFIERS = ['public', 'protected', 'private', 'static', 'abstract', 'final', 'var'];

    /** @var array<string, \stdClass> */
    private $types = [];

    /** The first class, interface or trait of a source; null when there is none. */
    public function read(string $code, string $file): ?\stdClass
    {
        $tokens = tokens($code);
        $class = null;
        $namespace = '';
        $doc = null;
        $modifiers = [];
        $depth = 0;
        for ($i = 0, $n = count($tokens); $i < $n; $i++) {
            [$kind, $text] = $tokens[$i];
            $word = strtolower($text);
            if ($kind === T_DOC_COMMENT) {
                $doc = $text;
                continue;
            }
            if (in_array($word, self::MODIFIERS, true)) {
                $modifiers[] = $word;
                continue;
            }
            if ($text === '{' || $kind === T_CURLY_OPEN || $kind === T_DOLLAR_OPEN_CURLY_BRACES) {
                $depth++;
            } elseif ($text === '}') {
                $depth--;
            } elseif ($kind === T_NAMESPACE && $namespace === '') {
                $namespace = $tokens[$i + 1][1] ?? '';
            } elseif ($class === null && $depth === 0 && in_array($kind, [T_CLASS, T_INTERFACE, T_TRAIT], true)) {
                $class = $this->head($tokens, $i, $namespace, $file, $doc, $modifiers);
            } elseif ($class !== null && $depth === 1) {
                $i = $this->member($class, $tokens, $i, $doc, $modifiers);
            }
            if ($text === ';' || $text === '{' || $text === '}' || $text === ')') {
                $modifiers = [];
                $doc = null;
            }
        }
        return $class;
    }

    private function head(
        array $tokens,
        int $at,
        string $namespace,
        string $file,
        ?string $doc,
        array $modifiers
    ): \stdClass {
        $class = new \stdClass();
        $class->kind = strtolower($tokens[$at][1]);
        $class->name = ltrim($namespace . '\\' . $tokens[$at + 1][1], '\\');
        $class->file = $file;
        $class->line = $tokens[$at][2];
        $class->modifiers = $modifiers;
        $class->doc = $doc;
        $class->parents = [];
        $class->constants = [];
        $class->properties = [];
        $class->methods = [];
        for ($i = $at + 2; isset($tokens[$i]) && $tokens[$i][1] !== '{'; $i++) {
            if ($tokens[$i][0] === T_STRING || strpos($tokens[$i][1], '\\') !== false) {
                $class->parents[] = $tokens[$i][1];
            }
        }
        return $class;
    }

    /** Reads a constant, property or method that begins at $at; gives the last token that belongs to it. */
    private function member(\stdClass $class, array $tokens, int $at, ?string $doc, array $modifiers): int
    {
        [$kind, $text, $line] = $tokens[$at];
        if ($kind === T_CONST) {
            $class->constants[$tokens[$at + 1][1]] = $tokens[$at + 3][1];
        } elseif ($kind === T_VARIABLE && $modifiers !== []) {
            $property = new \stdClass();
            $property->name = substr($text, 1);
            $property->modifiers = $modifiers;
            $property->doc = $doc;
            $property->type = $this->type(preg_match('~@var\s+(\S+)~', (string) $doc, $m) === 1 ? $m[1] : 'mixed');
            $property->default = $tokens[$at + 1][1] === '=' ? $tokens[$at + 2][1] : null;
            $class->properties[$property->name] = $property;
        } elseif ($kind === T_FUNCTION) {
            return $this->method($class, $tokens, $at, $doc, $modifiers, $line);
        }
        return $at;
    }

    private function method(
        \stdClass $class,
        array $tokens,
        int $at,
        ?string $doc,
        array $modifiers,
        int $line
    ): int {
        $at += $tokens[$at + 1][1] === '&' ? 2 : 1;
        $method = new \stdClass();
        $method->name = $tokens[$at][1];
        $method->line = $line;
        $method->modifiers = $modifiers;
        $method->doc = $doc;
        $method->parameters = [];
        $open = 0;
        for ($i = $at + 1; isset($tokens[$i]); $i++) {
            $text = $tokens[$i][1];
            if ($text === '(') {
                $open++;
            } elseif ($text === ')') {
                if (--$open === 0) {
                    break;
                }
            } elseif ($open === 1 && $tokens[$i][0] === T_VARIABLE) {
                $method->parameters[] = $this->parameter($tokens, $i);
            }
        }
        $result = ($tokens[$i + 1][1] ?? '') === ':' ? $tokens[$i + 2][1] : 'mixed';
        $method->result = $this->type($result === '?' ? '?' . $tokens[$i + 3][1] : $result);
        $class->methods[$method->name] = $method;
        return $i;
    }

    private function parameter(array $tokens, int $at): \stdClass
    {
        $parameter = new \stdClass();
        $parameter->name = substr($tokens[$at][1], 1);
        $parameter->optional = $tokens[$at + 1][1] === '=';
        $before = $tokens[$at - 1][1];
        $typed = preg_match('~^[A-Za-z_\\\\]~', $before) === 1;
        $nullable = $typed && $tokens[$at - 2][1] === '?' ? '?' : '';
        $parameter->type = $this->type($typed ? $nullable . $before : 'mixed');
        return $parameter;
    }

    /** One object for each type, shared by all that have it. */
    private function type(string $name): \stdClass
    {
        if (!isset($this->types[$name])) {
            $type = new \stdClass();
            $type->name = ltrim($name, '?');
            $type->nullable = $name[0] === '?' || stripos($name, 'null') !== false;
            $this->types[$name] = $type;
        }
        return $this->types[$name];
    }
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
