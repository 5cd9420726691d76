<?php

declare(strict_types=1);

namespace Weighbridge\Library;

/**
 * @internal What a client accepts, from its Accept-Encoding (RFC 9110, section 12.5.3).
 *
 * A member that is not well formed is left out. `x-gzip` is `gzip`. Without the field everything would be acceptable;
 * as servers do, such a client is sent identity, for it did not say that it can decode anything. So is one whose field
 * is longer than any browser's by far.
 */
final class Negotiation
{
    /** A longer field is not read. Servers refuse most of them: 8 KB is Apache's limit for a line. */
    private const MAX_BYTES = 8192;

    private const MEMBER = '/^\s*([!#$%&\'*+.^_`|~0-9a-z-]+)\s*(?:;\s*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?$/D';

    /** @var array<array-key, float> quality by coding, each 0 to 1; `*` stands for those not named */
    private array $qualities = [];

    /** @param string|null $field the field's value, null without it */
    public function __construct(?string $field)
    {
        if ($field === null || strlen($field) > self::MAX_BYTES) {
            return;
        }
        foreach (explode(',', strtolower($field)) as $member) {
            if (preg_match(self::MEMBER, $member, $match) === 1) {
                $coding = $match[1] === 'x-gzip' ? 'gzip' : $match[1];
                $this->qualities[$coding] = isset($match[2]) ? (float) $match[2] : 1.0;
            }
        }
    }

    /**
     * The coding to send, null for identity.
     *
     * @param iterable<string> $codings what could be sent beside identity, the preferred one first
     */
    public function choose(iterable $codings): ?string
    {
        $best = null;
        // Identity that is not named is the last resort, whatever `*` says. Qualities have three digits, so half a
        // thousandth less lets a coding win over an identity of the same quality.
        $quality = max(0.0, ($this->qualities['identity'] ?? 0.0) - 0.0005);
        foreach ($codings as $coding) {
            if ($this->quality($coding) > $quality) {
                $best = $coding;
                $quality = $this->quality($coding);
            }
        }
        return $best;
    }

    private function quality(string $coding): float
    {
        return $this->qualities[$coding] ?? $this->qualities['*'] ?? 0.0;
    }
}
