<?php
/** Everything that says it runs on PHP 5.5 can be read by it. The grammar stands in the library PHP-Parser. */

return function (Runner $runner) {
    $grammar = Grammar::load();
    $need = function () use ($grammar) {
        if ($grammar === null) {
            throw new Skip('PHP-Parser is not installed, or this PHP is older than 7: apt install php-parser', PHP_VERSION_ID < 70000);
        }
    };
    $newer = array(
        'a type of a scalar' => 'function f(int $a) {}', 'a return type' => 'function f(): array {}', '??' => '$a = $b ?? 1;',
        'a nullable type' => 'function f(?array $a) {}', 'an arrow function' => '$f = fn($a) => $a;', '**' => '$a = 2 ** 3;',
        'a spread' => 'f(...$a);', 'a variadic' => 'function f(...$a) {}', 'an imported function' => 'use function A\b;',
        'an array as a constant' => 'class A { const B = array(1); }', 'a constant expression' => 'class A { const B = 1 << 2; }',
        'a default by expression' => 'function f($a = 1 + 2) {}', 'a property by expression' => 'class A { private $b = 2 * 3; }',
        'a class without a name' => '$a = new class {};', 'a typed property' => 'class A { private int $b; }',
        'list by []' => '[$a, $b] = $c;', 'several classes caught' => 'try {} catch (A | B $c) {}', '<=>' => '$a = $b <=> $c;',
        'yield from' => 'function f() { yield from g(); }', 'use of a group' => 'use A\{B, C};', '??=' => '$a ??= 1;',
        'a private constant' => 'class A { private const B = 1; }', 'a closure with a return type' => '$a = function (): array {};',
        '?->' => '$a?->b();', 'a match' => '$a = match (1) { default => 2 };', 'a named argument' => 'f(a: 1);',
    );
    foreach ($newer as $title => $code) {
        $runner->test("the grammar of PHP 5.5 refuses $title", function () use ($need, $grammar, $code) {
            $need();
            Failure::unless($grammar->faults("<?php $code") !== array(), 'it does not');
        });
    }
    $runner->test('the grammar of PHP 5.5 takes what it had', function () use ($need, $grammar) {
        $need();
        $code = '<?php namespace A; use B\C; class D { const E = 1; private $f = array(1, -1); function g(array $h, C $i = null) {
            try { yield $h[0]; } catch (\Throwable $j) { return; } finally { list($k, list($l)) = [1, [2]]; foreach ($h as list($m)) {} } } }';
        Failure::unlessSame(array(), $grammar->faults($code), 'faults');
    });

    $runner->test('every file of the PHP side and of the stores can be read by PHP 5.5', function () use ($need, $grammar) {
        $need();
        $root = dirname(dirname(dirname(__DIR__)));
        // These belong to what needs a newer PHP anyway: the generator of values, and Symfony's interfaces. So does the
        // library, php/library.
        $exempt = array('php/values.php', 'php/values-classes.php', 'stores/redis/lib/SymfonyMarshaller.php');
        $count = 0;
        $faults = array();
        foreach (array('php', 'stores') as $folder) {
            foreach (new RecursiveIteratorIterator(new RecursiveDirectoryIterator("$root/$folder")) as $file) {
                $name = substr($file, strlen($root) + 1);
                if (substr($name, -4) === '.php' && strpos($name, 'php/library/') !== 0 && !in_array($name, $exempt, true)) {
                    ++$count;
                    foreach ($grammar->faults(file_get_contents($file)) as $fault) {
                        $faults[] = "$name: $fault";
                    }
                }
            }
        }
        Failure::unlessSame(array(), $faults, 'faults');
        Failure::unless($count > 100, "only $count files were found");
    });
};
