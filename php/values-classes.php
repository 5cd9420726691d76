<?php

/**
 * Reads what classes are made of from PHP sources, by the tokenizer: the sources are never executed.
 * A part of values.php.
 */

declare(strict_types=1);

namespace Weighbridge\Values;

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
