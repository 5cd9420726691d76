<?php
namespace Weighbridge\Redis;

use Symfony\Component\Cache\Marshaller\MarshallerInterface;
use Weighbridge\Marshaller;

/**
 * One of our serializers with a codec as a marshaller for Symfony. Its signatures need PHP 7.2, as Symfony does: it is
 * only loaded there.
 */
final class SymfonyMarshaller implements MarshallerInterface
{
    private $marshaller;

    public function __construct(Marshaller $marshaller)
    {
        $this->marshaller = $marshaller;
    }

    public function marshall(array $values, ?array &$failed): array
    {
        $failed = array();
        foreach ($values as $id => $value) {
            $values[$id] = $this->marshaller->encode($value);
        }
        return $values;
    }

    /** @return \stdClass with the value: a return type that every version of the interface allows */
    public function unmarshall(string $value): \stdClass
    {
        $decoded = new \stdClass();
        $decoded->value = $this->marshaller->decode($value);
        return $decoded;
    }
}
