<?php
namespace Weighbridge;

/** Ranks by Zipf's law: the rank r (from 0) is drawn with a weight of 1 / (r + 1)^exponent. */
final class Zipf
{
    /**
     * By the inverse of the distribution function. The draws are sorted and met by one walk over the ranks, so that a
     * large key space needs no table.
     *
     * @param int   $count    of ranks
     * @param float $exponent
     * @param array $draws    numbers above 0 and below 1
     * @return array the rank of each draw, in the draws' order
     */
    public static function ranks($count, $exponent, array $draws)
    {
        $total = 0.0;
        for ($rank = 1; $rank <= $count; ++$rank) {
            $total += pow($rank, -$exponent);
        }
        asort($draws);
        $ranks = $draws;
        $rank = 1;
        $reached = 1.0;
        foreach ($draws as $i => $draw) {
            while ($reached < $draw * $total && $rank < $count) {
                ++$rank;
                $reached += pow($rank, -$exponent);
            }
            $ranks[$i] = $rank - 1;
        }
        ksort($ranks);
        return array_values($ranks);
    }
}
