<?php
namespace Weighbridge;

/** A record of named bins of mixed types, the same for a number of bins on every PHP. */
final class Record
{
    const MOST_BINS = 10000;

    /** @return array value by the bin's name */
    public static function of($bins)
    {
        if ($bins > self::MOST_BINS) {
            throw new Fault('parameter', "a record of $bins bins is too large; the most is " . self::MOST_BINS);
        }
        $record = array();
        for ($i = 0; $i < $bins; ++$i) {
            $record["bin$i"] = self::bin($i);
        }
        return $record;
    }

    private static function bin($i)
    {
        switch ($i % 6) {
            case 0:
                return $i * 7919 + 1;
            case 1:
                // Eighths are exact, so that every encoding of a float brings them back.
                return $i + 0.125;
            case 2:
                return "city $i";
            case 3:
                return self::prose($i, 400 + $i % 7 * 30);
            case 4:
                // true, false and null stand inside lists and maps: some stores have no top value of these types.
                return array($i, -$i, "tag $i", $i / 8, $i % 2 === 0, null);
            default:
                // In the order of their names, in which some stores keep them.
                return array(
                    'active' => $i % 4 === 1,
                    'address' => array('geo' => array(52.5, 13.375), 'street' => "$i High Street", 'zip' => 10000 + $i),
                    'id' => $i,
                    'name' => "customer $i",
                    'note' => null,
                    'orders' => array(array('count' => 2, 'sku' => "A-$i"), array('count' => 1, 'sku' => "B-$i")),
                );
        }
    }

    private static function prose($i, $length)
    {
        $text = '';
        for ($n = 0; strlen($text) < $length; ++$n) {
            $text .= 'line ' . $n . ' of bin ' . $i . ' says ' . md5("$i $n") . ', and no more. ';
        }
        return substr($text, 0, $length);
    }
}
