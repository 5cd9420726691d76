<?php
namespace Weighbridge;

/** One payload in memory: its items as texts, and the PHP values that they are once somebody asks. */
final class Payload
{
    private $items = array();
    private $values;
    private $path;
    private $bytes;

    public function __construct($blob, array $lengths, $path)
    {
        if (array_sum($lengths) !== strlen($blob)) {
            $sum = array_sum($lengths);
            throw new Fault('parameter', "the items add up to $sum bytes, but $path has " . strlen($blob));
        }
        $offset = 0;
        foreach ($lengths as $length) {
            // The cast is for PHP before 8.0, where an empty part at the end comes back as false.
            $this->items[] = (string) substr($blob, $offset, $length);
            $offset += $length;
        }
        $this->path = $path;
        $this->bytes = strlen($blob);
    }

    /** @return int length of all items in bytes */
    public function bytes()
    {
        return $this->bytes;
    }

    /** @return array the items as texts */
    public function items()
    {
        return $this->items;
    }

    /**
     * @param string|null $form in which the values stand in the blob
     * @return array the value that each item is
     */
    public function values($form)
    {
        if ($form !== 'serialize') {
            $found = $form === null ? 'none' : "`$form`";
            throw new Fault('parameter', "this cell needs a value in the form `serialize`; the payload has $found");
        }
        if ($this->values === null) {
            $values = array();
            foreach ($this->items as $item) {
                $values[] = Value::read($item, $this->path);
            }
            $this->values = $values;
        }
        return $this->values;
    }
}
