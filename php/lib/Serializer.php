<?php
namespace Weighbridge;

/**
 * One serializer, from the array that its file in serializers/ returns: `missing` and `library` as in a
 * codec's binding, `pack` (value to text) and `unpack` (text to value), each the name of a function.
 */
final class Serializer
{
    public $pack;
    public $unpack;
    private $name;
    private $spec;

    /** @throws Fault when the array lacks something */
    public function __construct($name, array $spec)
    {
        if (!isset($spec['missing'], $spec['library'], $spec['pack'], $spec['unpack'])) {
            throw new Fault('missing', 'it must return an array with `missing`, `library`, `pack` and `unpack`');
        }
        $this->name = $name;
        $this->spec = $spec;
        $this->pack = $spec['pack'];
        $this->unpack = $spec['unpack'];
    }

    /** @return array its entry in a description */
    public function describe()
    {
        $missing = call_user_func($this->spec['missing']);
        $fault = $missing === null ? array() : $missing->describe();
        return array(
            'name' => $this->name,
            'library' => $missing === null ? call_user_func($this->spec['library']) : null,
            'missing' => $missing === null ? null : $fault['message'],
            'remedy' => isset($fault['remedy']) ? $fault['remedy'] : null,
        );
    }

    /** @throws Fault when it cannot be used here */
    public function need()
    {
        $missing = call_user_func($this->spec['missing']);
        if ($missing !== null) {
            throw $missing;
        }
    }
}
