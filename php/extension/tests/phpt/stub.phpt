--TEST--
The stub says what the extension has
--EXTENSIONS--
weighbridge
--FILE--
<?php
// The stub's names in a namespace of their own, beside those of the extension.
$code = file_get_contents(dirname(__DIR__, 2) . '/weighbridge.stub.php');
eval('namespace Stub;' . preg_replace(['/^<\?php/', '/\{\s*\}/'], ['', '{ exit; }'], $code));
function signature(ReflectionFunctionAbstract $function): string
{
    $parameters = array_map(
        fn($one) => $one->getType() . ' $' . $one->getName() . ($one->isOptional() ? '?' : ''),
        $function->getParameters()
    );
    return $function->getShortName() . '(' . implode(', ', $parameters) . ') ' . ($function->getReturnType() ?? 'nothing');
}
$extension = new ReflectionExtension('weighbridge');
foreach ($extension->getFunctions() as $function) {
    $stub = new ReflectionFunction('Stub\\' . $function->getName());
    echo signature($function) === signature($stub) ? 'same ' : 'OTHER ' . signature($stub) . ' THAN ', signature($function), "\n";
}
foreach ($extension->getClasses() as $class) {
    $stub = new ReflectionClass('Stub\\' . $class->getName());
    echo $class->isFinal() === $stub->isFinal() && count($class->getMethods()) === count($stub->getMethods()) ? 'same ' : 'OTHER ', $class->getName(), "\n";
    $methods = $class->getMethods();
    usort($methods, fn($one, $other) => strcmp($one->getName(), $other->getName()));
    foreach ($methods as $method) {
        $other = $stub->getMethod($method->getName());
        echo signature($method) === signature($other) ? 'same ' : 'OTHER ' . signature($other) . ' THAN ', signature($method), "\n";
    }
}
?>
--EXPECT--
same weighbridge_encode(string $data, string $coding, ?int $level?, ?string $dictionary?) string
same weighbridge_decode(string $data, string $coding, int $max_bytes, ?string $dictionary?) string
same weighbridge_output_handler(string $buffer, int $flags) bool
same WeighbridgeEncoder
same __construct(string $coding, ?int $level?, ?string $dictionary?) nothing
same add(string $data) string
same finish() string
same flush() string
