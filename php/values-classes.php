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
        if ($joins && $name && separated($list[$last][1] ?? '', $text)) {
            $list[$last][1] .= $text;
        } elseif (!in_array($kind, [T_WHITESPACE, T_COMMENT], true)) {
            $list[] = [$name && $text[0] === '\\' ? T_STRING : $kind, $text, $line];
        }
        $joins = $name;
        $line += substr_count($text, "\n");
    }
    return $list;
}

/** Whether a separator of namespaces stands between two texts. */
function separated(string $before, string $text): bool
{
    return $text[0] === '\\' || substr($before, -1) === '\\';
}

/** Reads the metadata of classes out of tokens. Types are shared objects, as in a real mapping. */
final class ClassReader
{
    private const ENDS = [';', '{', '}', ')'];
    private const MODIFIERS = ['public', 'protected', 'private', 'static', 'abstract', 'final', 'var'];

    /** @var array<string, \stdClass> */
    private $types = [];

    /** @var string|null the comment before what is read next */
    private $doc;

    /** @var string[] the modifiers before what is read next */
    private $modifiers = [];

    /** The first class, interface or trait of a source; null when there is none. */
    public function read(string $code, string $file): ?\stdClass
    {
        $tokens = tokens($code);
        $class = null;
        $namespace = $this->namespaceOf($tokens);
        $depth = 0;
        $this->forget();
        for ($i = 0, $n = count($tokens); $i < $n; $i++) {
            [$kind, $text] = $tokens[$i];
            if ($this->remember($kind, $text)) {
                continue;
            }
            $step = $this->step($kind, $text);
            $depth += $step;
            if ($step === 0 && $class === null) {
                $class = $depth === 0 ? $this->head($tokens, $i, $namespace, $file) : null;
            } elseif ($step === 0 && $depth === 1) {
                $i = $this->member($class, $tokens, $i);
            }
            if (in_array($text, self::ENDS, true)) {
                $this->forget();
            }
        }
        return $class;
    }

    /** Keeps a comment or a modifier for what it stands before; false when the token is neither. */
    private function remember(int $kind, string $text): bool
    {
        $word = strtolower($text);
        if ($kind === T_DOC_COMMENT) {
            $this->doc = $text;
        } elseif (in_array($word, self::MODIFIERS, true)) {
            $this->modifiers[] = $word;
        } else {
            return false;
        }
        return true;
    }

    private function forget(): void
    {
        $this->doc = null;
        $this->modifiers = [];
    }

    private function namespaceOf(array $tokens): string
    {
        foreach ($tokens as $i => $token) {
            if ($token[0] === T_NAMESPACE) {
                return $tokens[$i + 1][1] ?? '';
            }
        }
        return '';
    }

    /** How much deeper in braces a token leads. */
    private function step(int $kind, string $text): int
    {
        if ($text === '{' || $kind === T_CURLY_OPEN || $kind === T_DOLLAR_OPEN_CURLY_BRACES) {
            return 1;
        }
        return $text === '}' ? -1 : 0;
    }

    /** What a class is called and descends from; null when none begins at $at. */
    private function head(array $tokens, int $at, string $namespace, string $file): ?\stdClass
    {
        if (!in_array($tokens[$at][0], [T_CLASS, T_INTERFACE, T_TRAIT], true)) {
            return null;
        }
        $class = new \stdClass();
        $class->kind = strtolower($tokens[$at][1]);
        $class->name = ltrim($namespace . '\\' . $tokens[$at + 1][1], '\\');
        $class->file = $file;
        $class->line = $tokens[$at][2];
        $class->modifiers = $this->modifiers;
        $class->doc = $this->doc;
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
    private function member(\stdClass $class, array $tokens, int $at): int
    {
        [$kind, $text, $line] = $tokens[$at];
        if ($kind === T_CONST) {
            $class->constants[$tokens[$at + 1][1]] = $tokens[$at + 3][1];
        } elseif ($kind === T_VARIABLE && $this->modifiers !== []) {
            $property = new \stdClass();
            $property->name = substr($text, 1);
            $property->modifiers = $this->modifiers;
            $property->doc = $this->doc;
            $property->type = $this->type(preg_match('~@var\s+(\S+)~', (string) $this->doc, $m) === 1 ? $m[1] : 'mixed');
            $property->default = $tokens[$at + 1][1] === '=' ? $tokens[$at + 2][1] : null;
            $class->properties[$property->name] = $property;
        } elseif ($kind === T_FUNCTION) {
            return $this->method($class, $tokens, $at, $line);
        }
        return $at;
    }

    private function method(\stdClass $class, array $tokens, int $at, int $line): int
    {
        $at += $tokens[$at + 1][1] === '&' ? 2 : 1;
        $method = new \stdClass();
        $method->name = $tokens[$at][1];
        $method->line = $line;
        $method->modifiers = $this->modifiers;
        $method->doc = $this->doc;
        $method->parameters = [];
        $i = $this->parameters($method, $tokens, $at + 1);
        $result = ($tokens[$i + 1][1] ?? '') === ':' ? $tokens[$i + 2][1] : 'mixed';
        $method->result = $this->type($result === '?' ? '?' . $tokens[$i + 3][1] : $result);
        $class->methods[$method->name] = $method;
        return $i;
    }

    /** Reads parameters up to the closing parenthesis; gives its place. */
    private function parameters(\stdClass $method, array $tokens, int $at): int
    {
        $open = 0;
        for ($i = $at; isset($tokens[$i]); $i++) {
            [$kind, $text] = $tokens[$i];
            $open += (int) ($text === '(') - (int) ($text === ')');
            if ($text === ')' && $open === 0) {
                break;
            }
            if ($open === 1 && $kind === T_VARIABLE) {
                $method->parameters[] = $this->parameter($tokens, $i);
            }
        }
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
