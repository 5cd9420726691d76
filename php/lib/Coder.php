<?php
namespace Weighbridge;

/**
 * A codec with its parameters fixed, ready to be called again and again.
 *
 * A direction is given in one of two forms, and the timed loop calls it with nothing in between:
 * - `array('gzdeflate', 6)`: a function by its name, with at most one further argument after the bytes;
 * - a closure, which gets the bytes to encode, or for decoding the bytes and the exact decoded length.
 */
final class Coder
{
    private $encode;
    private $decode;
    private $bounded;

    /**
     * @param array|\Closure $encode  bytes (or a value, for a codec that takes values) to encoded bytes
     * @param array|\Closure $decode  the way back, as a user would call it
     * @param \Closure|null  $bounded like $decode with a bound on the output's length, for verification;
     *                                null where $decode itself cannot produce more than was asked for
     */
    public function __construct($encode, $decode, $bounded = null)
    {
        $this->encode = $encode;
        $this->decode = $decode;
        $this->bounded = $bounded;
    }

    /** @return bool whether verification makes the very calls that are timed */
    public function verifiesAsTimed()
    {
        return $this->bounded === null;
    }

    /** @return string `$input` encoded, by one call outside of any timed loop */
    public function encode($input)
    {
        if ($this->encode instanceof \Closure) {
            return call_user_func($this->encode, $input);
        }
        return call_user_func_array($this->encode[0], array_merge(array($input), array_slice($this->encode, 1)));
    }

    /**
     * @param int $length of what decoding gives
     * @return array both directions for single calls: the callable and its second argument (null: it takes one) for
     *               encoding, then for decoding
     */
    public function calls($length)
    {
        list($encode, $first) = self::resolve($this->encode, array(null));
        list($decode, $second) = self::resolve($this->decode, array($length));
        return array($encode, $first ? $first[0] : null, $decode, $second ? $second[0] : null);
    }

    /** @return Pass over `$inputs`; `$before` is applied to each input first */
    public function encodePass(array $inputs, $before = null)
    {
        list($call, $second) = self::resolve($this->encode, array_fill(0, count($inputs), null));
        return new Pass($call, $inputs, $this->encode instanceof \Closure ? null : $second, $before, null);
    }

    /** @return Pass over `$encoded`, whose decoded lengths are known; `$after` is applied to each output */
    public function decodePass(array $encoded, array $lengths, $after = null)
    {
        list($call, $second) = self::resolve($this->decode, $lengths);
        return new Pass($call, $encoded, $second, null, $after);
    }

    /** @return Pass like decodePass(), with outputs kept from growing without bound */
    public function boundedPass(array $encoded, array $lengths)
    {
        list($call, $second) = self::resolve($this->bounded ?: $this->decode, $lengths);
        return new Pass($call, $encoded, $second, null, null);
    }

    /** @return array the callable, and its second argument for each input or null for none */
    private static function resolve($direction, array $lengths)
    {
        if ($direction instanceof \Closure) {
            return array($direction, $lengths);
        }
        $fixed = count($direction) > 1 ? array_fill(0, count($lengths), $direction[1]) : null;
        return array(self::direct($direction[0]), $fixed);
    }

    /** A closure of the function itself where PHP has that (7.1): it saves the look-up by name at each call. */
    private static function direct($callable)
    {
        if (method_exists('Closure', 'fromCallable')) {
            return call_user_func(array('Closure', 'fromCallable'), $callable);
        }
        return $callable;
    }
}
