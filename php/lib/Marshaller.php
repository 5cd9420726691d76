<?php
namespace Weighbridge;

/** A serializer and a codec as an application has them before its store, and the time they take. */
final class Marshaller
{
    /** Nanoseconds in encode() and in decode() so far. */
    public $encodeNs = 0;
    public $decodeNs = 0;
    private $pack;
    private $unpack;
    private $encode;
    private $encodeWith;
    private $decode;
    private $decodeWith;

    /**
     * @param Request $encode the request's `encode`
     * @param array   $values all that there are: some libraries must be told the decoded length, or a greater one
     * @throws Fault when they are not there, or do not go together
     */
    public function __construct(Request $encode, Catalogue $catalogue, array $values)
    {
        $codec = $catalogue->codec($encode->text('codec'));
        list($coder) = $codec->coder($encode->params());
        if ($encode->has('serializer')) {
            if ($codec->takesValue()) {
                throw new Fault('parameter', "{$encode->text('codec')} takes a value itself; no serializer goes with it");
            }
            $serializer = $catalogue->serializer($encode->text('serializer'));
            $serializer->need();
            $this->pack = $serializer->pack;
            // What comes back is the store's word, not a value that was looked into beforehand.
            $restore = array('Weighbridge\\Value', 'restore');
            $this->unpack = $serializer->unpack === 'unserialize' ? $restore : $serializer->unpack;
            $values = array_map($this->pack, $values);
        } elseif (!$codec->takesValue() && !is_string($values[0])) {
            throw new Fault('parameter', "{$encode->text('codec')} takes a text; give a serializer for a value that is none");
        }
        $length = is_string($values[0]) ? max(array_map('strlen', $values)) : 0;
        list($this->encode, $this->encodeWith, $this->decode, $this->decodeWith) = $coder->calls($length);
    }

    /** @return string */
    public function encode($value)
    {
        $began = hrtime(true);
        if ($this->pack !== null) {
            $pack = $this->pack;
            $value = $pack($value);
        }
        $encode = $this->encode;
        $text = $this->encodeWith === null ? $encode($value) : $encode($value, $this->encodeWith);
        $this->encodeNs += hrtime(true) - $began;
        return $text;
    }

    /** @return mixed the value, or an Undecodable */
    public function decode($text)
    {
        $began = hrtime(true);
        try {
            $decode = $this->decode;
            $value = $this->decodeWith === null ? $decode($text) : $decode($text, $this->decodeWith);
            if ($this->unpack !== null) {
                $unpack = $this->unpack;
                $value = $unpack($value);
            }
        } catch (\Exception $error) {
            $value = new Undecodable($error);
        } catch (\Throwable $error) {
            $value = new Undecodable($error);
        }
        $this->decodeNs += hrtime(true) - $began;
        return $value;
    }
}
