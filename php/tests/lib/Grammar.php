<?php
use PhpParser\Error;
use PhpParser\Lexer\Emulative;
use PhpParser\Node;
use PhpParser\NodeFinder;
use PhpParser\Parser\Php5;

/**
 * Whether PHP 5.5 can read a file: by the grammar of PHP 5 in the library PHP-Parser (Debian's php-parser) and, since
 * that takes some of what came later, by a list of it. Which functions and classes a file uses is not looked into.
 */
final class Grammar
{
    const LIBRARY = '/usr/share/php/PhpParser/autoload.php';

    /** What the grammar takes and PHP 5.5 does not have. */
    private static $newer = array(
        'PhpParser\Node\Expr\BinaryOp\Pow' => 'the operator **',
        'PhpParser\Node\Expr\AssignOp\Pow' => 'the operator **=',
        'PhpParser\Node\Expr\BinaryOp\Coalesce' => 'the operator ??',
        'PhpParser\Node\Expr\AssignOp\Coalesce' => 'the operator ??=',
        'PhpParser\Node\Expr\BinaryOp\Spaceship' => 'the operator <=>',
        'PhpParser\Node\Expr\YieldFrom' => 'yield from',
        'PhpParser\Node\Stmt\GroupUse' => 'use of a group',
    );

    private $parser;
    private $finder;

    /** @return Grammar|null null where the library is not installed, or needs a newer PHP than this one */
    public static function load()
    {
        if (PHP_VERSION_ID < 70000 || !is_file(self::LIBRARY)) {
            return null;
        }
        require_once self::LIBRARY;
        return new self();
    }

    private function __construct()
    {
        $this->parser = new Php5(new Emulative());
        $this->finder = new NodeFinder();
    }

    /** @return array one line for each thing that PHP 5.5 cannot read */
    public function faults($code)
    {
        try {
            $tree = $this->parser->parse($code);
        } catch (Error $error) {
            return array($error->getMessage());
        }
        $faults = array();
        foreach ($this->finder->findInstanceOf($tree, 'PhpParser\Node') as $node) {
            $newer = $this->newer($node);
            if ($newer !== null) {
                $faults[] = "$newer on line {$node->getStartLine()}";
            }
        }
        return $faults;
    }

    /** @return string|null what in a node PHP 5.5 cannot read */
    private function newer(Node $node)
    {
        if (isset(self::$newer[get_class($node)])) {
            return self::$newer[get_class($node)];
        }
        if ($node instanceof Node\Param) {
            return $this->newerParam($node);
        }
        if ($node instanceof Node\Const_) {
            return $this->newerConstant($node->value, true);
        }
        if ($node instanceof Node\Stmt\PropertyProperty) {
            return $this->newerConstant($node->default, false);
        }
        return self::newerProperty($node);
    }

    /** Of nodes that are old, but not with all that they may have. */
    private static function newerProperty(Node $node)
    {
        if (!empty($node->returnType)) {
            return 'a type of what is returned';
        }
        if (!empty($node->unpack)) {
            return 'arguments by ...';
        }
        if ($node instanceof Node\Stmt\ClassConst && $node->flags !== 0) {
            return 'a constant with a visibility';
        }
        if ($node instanceof Node\Stmt\Class_ && $node->name === null) {
            return 'a class without a name';
        }
        $imports = $node instanceof Node\Stmt\Use_ && $node->type !== Node\Stmt\Use_::TYPE_NORMAL;
        return $imports ? 'use of a function or constant' : null;
    }

    private function newerParam(Node\Param $param)
    {
        if ($param->variadic) {
            return 'parameters by ...';
        }
        // The grammar takes a newer type for the name of a class.
        $newer = array('int', 'string', 'bool', 'float', 'iterable', 'object', 'mixed', 'false', 'null');
        $type = $param->type === null ? '' : strtolower((string) $param->type);
        return in_array($type, $newer, true) ? "the type $type" : $this->newerConstant($param->default, false);
    }

    /** Of what must be constant: before 5.6 no operators, and no array in a const. */
    private function newerConstant($value, $named)
    {
        if ($value === null) {
            return null;
        }
        if ($named && $value instanceof Node\Expr\Array_) {
            return 'an array as a constant';
        }
        $operators = $this->finder->findInstanceOf(array($value), 'PhpParser\Node\Expr\BinaryOp');
        return $operators ? 'an expression as a constant' : null;
    }
}
