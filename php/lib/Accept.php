<?php
namespace Weighbridge;

/**
 * What a client accepts, from its Accept-Encoding (RFC 9110, section 12.5.3).
 *
 * A member that is not well formed is left out. `x-gzip` is `gzip`. Without the field everything would be
 * acceptable; as servers do, such a client is sent identity, for it did not say that it can decode anything.
 */
final class Accept
{
    /** Quality by coding, each 0 to 1; `*` stands for those not named. */
    private $qualities = array();

    /** @param string|null $field the field's value, null without it */
    public function __construct($field)
    {
        foreach (explode(',', strtolower((string) $field)) as $member) {
            $form = '/^\s*([!#$%&\'*+.^_`|~0-9a-z-]+)\s*(?:;\s*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?$/';
            if (preg_match($form, $member, $match)) {
                $coding = $match[1] === 'x-gzip' ? 'gzip' : $match[1];
                $this->qualities[$coding] = isset($match[2]) ? (float) $match[2] : 1.0;
            }
        }
    }

    /**
     * @param array $codings what could be sent beside identity, the preferred one first
     * @return string|null the coding to send, null for identity
     * @throws Fault when the client refuses identity and takes none of them
     */
    public function choose(array $codings)
    {
        $best = null;
        // Identity that is not named is the last resort, whatever `*` says, unless that excludes it. Qualities have
        // three digits, so half a thousandth less lets a coding win over an identity of the same quality.
        $named = isset($this->qualities['identity']) ? $this->qualities['identity'] : 0.0;
        $quality = max(0.0, $named - 0.0005);
        foreach ($codings as $coding) {
            if ($this->quality($coding) > $quality) {
                $best = $coding;
                $quality = $this->quality($coding);
            }
        }
        if ($best === null && !$this->takesIdentity()) {
            $known = implode(', ', $codings) ?: 'nothing else';
            throw new Fault('unacceptable', "the client refuses identity, and of codings there is: $known");
        }
        return $best;
    }

    private function quality($coding)
    {
        foreach (array($coding, '*') as $name) {
            if (isset($this->qualities[$name])) {
                return $this->qualities[$name];
            }
        }
        return 0.0;
    }

    private function takesIdentity()
    {
        foreach (array('identity', '*') as $name) {
            if (isset($this->qualities[$name])) {
                return $this->qualities[$name] > 0;
            }
        }
        return true;
    }
}
