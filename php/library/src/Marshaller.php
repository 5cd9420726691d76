<?php

declare(strict_types=1);

namespace Weighbridge\Library;

use Symfony\Component\Cache\Marshaller\DefaultMarshaller;
use Symfony\Component\Cache\Marshaller\MarshallerInterface;

/**
 * Stores cached values of Symfony as the settings say. It needs PHP 8.
 *
 * A value that begins with none of `Envelope`'s marks was stored before, and is left to the marshaller inside. One that
 * cannot be read is an exception, which Symfony's adapters log and take for a miss.
 */
final class Marshaller implements MarshallerInterface
{
    private MarshallerInterface $inner;

    private Envelope $envelope;

    public function __construct(?MarshallerInterface $inner = null, ?Settings $settings = null, ?Codec $codec = null)
    {
        $settings = $settings ?? Settings::defaults();
        $this->inner = $inner ?? new DefaultMarshaller($settings->value['serializer'] === 'igbinary');
        $this->envelope = new Envelope($settings, $codec);
    }

    /**
     * @param array<mixed>      $values
     * @param array<mixed>|null $failed
     *
     * @return array<string>
     */
    public function marshall(array $values, ?array &$failed): array
    {
        return array_map([$this->envelope, 'seal'], $this->inner->marshall($values, $failed));
    }

    public function unmarshall(string $value): mixed
    {
        return $this->inner->unmarshall(Envelope::isSealed($value) ? $this->envelope->open($value) : $value);
    }
}
