<?php

declare(strict_types=1);

namespace Weighbridge\Library\Symfony;

use Symfony\Component\Cache\Marshaller\DefaultMarshaller;
use Symfony\Component\Cache\Marshaller\MarshallerInterface;
use Weighbridge\Library\Codec;
use Weighbridge\Library\Envelope;
use Weighbridge\Library\Settings;

/**
 * What the marshaller does under every PHP: it seals what another marshaller made.
 *
 * @internal
 */
abstract class ValueMarshaller implements MarshallerInterface
{
    private MarshallerInterface $inner;

    private Envelope $envelope;

    public function __construct(
        ?MarshallerInterface $inner = null,
        ?Settings $settings = null,
        ?Codec $codec = null,
        int $maxBytes = 1 << 26
    ) {
        $settings = $settings ?? Settings::defaults();
        $this->inner = $inner ?? new DefaultMarshaller($settings->value->serializer === 'igbinary');
        $this->envelope = new Envelope($settings, $codec, $maxBytes);
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

    /** @return mixed */
    protected function read(string $value)
    {
        return $this->inner->unmarshall(Envelope::isSealed($value) ? $this->envelope->open($value) : $value);
    }
}
