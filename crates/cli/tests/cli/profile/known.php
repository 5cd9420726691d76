<?php
function fib($n) { return $n < 2 ? $n : fib($n - 1) + fib($n - 2); }
function even($n) { return $n == 0 ? true : odd($n - 1); }
function odd($n) { return $n == 0 ? false : even($n - 1); }
function leaf() { for ($s = 0, $i = 0; $i < 2000; $i++) { $s += $i; } return $s; }
function gen() { for ($i = 0; $i < 3; $i++) { yield leaf(); } }
function thrower() { leaf(); throw new Exception('x'); }
function at_end() { leaf(); }
class A { public $b; function go($n) { $this->b = str_repeat('b', 1000); return $n; } function __destruct() { leaf(); } }
register_shutdown_function('at_end');
fib(12);
even(20);
$a = new A();
for ($i = 0; $i < 50; $i++) { $a->go($i); }
array_map('leaf', array());
array_map(function ($x) { return leaf(); }, array(1, 2, 3, 4));
foreach (gen() as $x) { leaf(); }
try { thrower(); } catch (Exception $e) { leaf(); }
echo "the script's own words\n";
