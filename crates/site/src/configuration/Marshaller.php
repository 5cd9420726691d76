namespace App\Cache;

use Symfony\Component\Cache\Marshaller\MarshallerInterface;

/** Compresses what another marshaller has made, and reads what is not compressed, too. */
final class WeighMarshaller implements MarshallerInterface
{
    /** Smaller values are kept as they are. */
    private const MIN_BYTES = {{ min_bytes }};
    /** Begins what is compressed: neither serialize() nor igbinary begins with it. */
    private const MARK = "\x01";

    private $inner;

    public function __construct(MarshallerInterface $inner)
    {
        $this->inner = $inner;
    }

    public function marshall(array $values, ?array &$failed): array
    {
        $marshalled = $this->inner->marshall($values, $failed);
        foreach ($marshalled as $id => $value) {
            if (\strlen($value) < self::MIN_BYTES) {
                continue;
            }
            $encoded = \{{ codec.encode }}($value{{ ", " ~ codec.level if codec.level is not none }});
            // One that does not get smaller is kept as it is.
            if (false !== $encoded && \strlen($encoded) + 1 < \strlen($value)) {
                $marshalled[$id] = self::MARK . $encoded;
            }
        }

        return $marshalled;
    }

    #[\ReturnTypeWillChange]
    public function unmarshall(string $value): mixed
    {
        if (0 === strncmp($value, self::MARK, 1)) {
            $value = \{{ codec.decode }}(substr($value, 1));
            if (false === $value) {
                throw new \DomainException('A cached value cannot be decoded with {{ codec.decode }}().');
            }
        }

        return $this->inner->unmarshall($value);
    }
}
