<?php

declare(strict_types=1);

namespace Weighbridge\Library\Symfony;

use DomainException;
use Exception;
use Symfony\Component\Cache\Marshaller\DefaultMarshaller;
use Symfony\Component\Cache\Marshaller\MarshallerInterface;
use Throwable;
use Weighbridge\Library\Codec;
use Weighbridge\Library\CodecFailure;
use Weighbridge\Library\Envelope;
use Weighbridge\Library\Settings;

/**
 * What the marshaller does under every PHP. It seals what another marshaller made, and reads besides:
 *
 * - plain values of serialize() and igbinary,
 * - what Symfony's `DeflateMarshaller` wrote,
 * - what the marshaller wrote that Weighbridge gives to applications without this library, as far as its codec shows.
 *
 * A value that cannot be read is an exception, which Symfony's adapters log and take for a miss.
 */
trait Marshalling
{
    private MarshallerInterface $inner;

    private Envelope $envelope;

    private Codec $codec;

    /** A value of before that decodes to more is refused. */
    private int $maxBytes;

    public function __construct(
        ?MarshallerInterface $inner = null,
        ?Settings $settings = null,
        ?Codec $codec = null,
        int $maxBytes = 1 << 26
    ) {
        $settings = $settings ?? Settings::defaults();
        // Null lets it choose: igbinary where it is loaded.
        $this->inner = $inner ?? new DefaultMarshaller($settings->value->serializer === 'igbinary' ? null : false);
        $this->codec = $codec ?? new Codec();
        $this->maxBytes = $maxBytes;
        $this->envelope = new Envelope($settings, $this->codec, $maxBytes);
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

    /**
     * @return mixed
     * @throws Exception
     */
    private function read(string $value)
    {
        try {
            if (Envelope::isSealed($value)) {
                return $this->inner->unmarshall($this->envelope->open($value));
            }
            foreach ($this->readings($value) as $plain) {
                try {
                    return $this->inner->unmarshall($plain);
                } catch (Exception $exception) {
                    continue;
                }
            }
        } catch (Exception $exception) {
            throw $exception;
        } catch (Throwable $error) {
            // Symfony takes exceptions for a miss, and no errors.
            throw new DomainException('A cached value cannot be read: ' . $error->getMessage(), 0, $error);
        }
        throw $exception ?? new DomainException('A cached value cannot be read: it is of no known form.');
    }

    /**
     * What a value of before may stand for, the likeliest first.
     *
     * @return iterable<string>
     */
    private function readings(string $value): iterable
    {
        $isPlain = preg_match('/^(?:[abdisOCE]:[+\-\d.IN]|N;|\x00\x00\x00[\x01\x02])/', $value) === 1;
        if ($isPlain) {
            yield $value;
        }
        foreach (self::codingsOf($value) as [$coding, $from]) {
            try {
                yield $this->codec->decode((string) substr($value, $from), $coding, $this->maxBytes);
            } catch (CodecFailure $failure) {
                continue;
            }
        }
        if (!$isPlain) {
            yield $value;
        }
    }

    /**
     * The codings that a value of before may have, and where the encoded bytes begin.
     *
     * @return iterable<array{string, int}>
     */
    private static function codingsOf(string $value): iterable
    {
        // A marked value: only zstd, gzip and zlib say what they are; DEFLATE and Brotli are tried.
        if (strncmp($value, "\x01", 1) === 0) {
            $head = (string) substr($value, 1, 4);
            if ($head === "\x28\xb5\x2f\xfd") {
                yield ['zstd', 1];
            } elseif (strncmp($head, "\x1f\x8b", 2) === 0) {
                yield ['gzip', 1];
            } elseif (strncmp($head, 'x', 1) === 0) {
                yield ['deflate', 1];
            }
            yield ['raw-deflate', 0];
            yield ['raw-deflate', 1];
            yield ['br', 1];
            return;
        }
        yield ['raw-deflate', 0];
    }
}
