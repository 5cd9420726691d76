<?php
namespace Weighbridge;

/** What parameters a codec or a way takes, and the refusal of all others. */
final class Terms
{
    /**
     * @param string     $name    of the codec or way, for messages
     * @param array|null $levels  min and max; null where there are none
     * @param array      $options name => `range` (lowest, highest) or `words` (a list)
     * @throws Fault on the first parameter that is not taken
     */
    public static function check($name, $levels, array $options, Params $params)
    {
        if ($params->level !== null && $levels === null) {
            throw new Fault('parameter', "$name has no levels");
        }
        if ($params->level !== null && ($params->level < $levels['min'] || $params->level > $levels['max'])) {
            $range = "{$levels['min']} to {$levels['max']}";
            throw new Fault('parameter', "$name has levels $range, not {$params->level}");
        }
        foreach ($params->options as $option => $value) {
            if (!isset($options[$option])) {
                $known = implode(', ', array_keys($options)) ?: 'none';
                throw new Fault('parameter', "$name has no option `$option`; it takes: $known");
            }
            self::checkOption($name, $option, $value, $options[$option]);
        }
    }

    private static function checkOption($name, $option, $value, array $terms)
    {
        if (isset($terms['range'])) {
            list($low, $high) = $terms['range'];
            $fine = preg_match('/^-?\d{1,9}$/D', $value) && $value >= $low && $value <= $high;
            $accepted = "$low to $high";
        } else {
            $fine = in_array($value, $terms['words'], true);
            $accepted = implode(', ', $terms['words']);
        }
        if (!$fine) {
            throw new Fault('parameter', "$name: $option=$value is not accepted; use $accepted");
        }
    }
}
