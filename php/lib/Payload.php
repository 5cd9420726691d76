<?php
namespace Weighbridge;

/** One payload in memory: its items as texts, and the PHP value in it once somebody asks. */
final class Payload
{
    private $items = array();
    private $value;
    private $hasValue = false;
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
     * @param string|null $form in which the value stands in the blob
     * @return mixed the value
     */
    public function value($form)
    {
        if ($form !== 'serialize') {
            $found = $form === null ? 'none' : "`$form`";
            throw new Fault('parameter', "this cell needs a value in the form `serialize`; the payload has $found");
        }
        if (!$this->hasValue) {
            $this->value = Value::read(implode('', $this->items), $this->path);
            $this->hasValue = true;
        }
        return $this->value;
    }
}
