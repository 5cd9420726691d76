<?php
namespace Weighbridge;

/**
 * The codecs and serializers found in their folders, by the names of their files.
 *
 * A file that cannot be loaded stays in the list as a missing one with the reason.
 */
final class Catalogue
{
    private $codecs = array();
    private $serializers = array();
    private $broken = array('codec' => array(), 'serializer' => array());

    /** @param string $folder the folder that has codecs/ and serializers/ */
    public function __construct($folder)
    {
        foreach (Loader::files("$folder/codecs") as $name => $file) {
            $this->add('codec', $name, $file);
        }
        foreach (Loader::files("$folder/serializers") as $name => $file) {
            $this->add('serializer', $name, $file);
        }
    }

    /** @return Codec */
    public function codec($name)
    {
        return $this->find('codec', $this->codecs, $name);
    }

    /** @return Serializer */
    public function serializer($name)
    {
        return $this->find('serializer', $this->serializers, $name);
    }

    /** @return array every codec's description, sorted by name */
    public function describeCodecs()
    {
        $all = array();
        foreach ($this->codecs as $name => $codec) {
            $all[$name] = $codec->describe();
        }
        foreach ($this->broken['codec'] as $name => $reason) {
            // A broken file says nothing of a format; `identity` only keeps the entry well formed.
            $all[$name] = array('name' => $name, 'format' => 'identity', 'binding' => 'library', 'library' => null);
            $all[$name] += array('levels' => null, 'missing' => $reason, 'remedy' => "mend codecs/$name.php");
        }
        ksort($all);
        return array_values($all);
    }

    /** @return array every serializer's description, sorted by name */
    public function describeSerializers()
    {
        $all = array();
        foreach ($this->serializers as $name => $serializer) {
            $all[$name] = $serializer->describe();
        }
        foreach ($this->broken['serializer'] as $name => $reason) {
            $all[$name] = array('name' => $name, 'library' => null);
            $all[$name] += array('missing' => $reason, 'remedy' => "mend serializers/$name.php");
        }
        ksort($all);
        return array_values($all);
    }

    private function add($kind, $name, $file)
    {
        list($made, $reason) = Loader::load($file, function (array $spec) use ($kind, $name) {
            return $kind === 'codec' ? new Codec($name, $spec) : new Serializer($name, $spec);
        });
        if ($reason !== null) {
            $this->broken[$kind][$name] = $reason;
        } elseif ($kind === 'codec') {
            $this->codecs[$name] = $made;
        } else {
            $this->serializers[$name] = $made;
        }
    }

    private function find($kind, array $known, $name)
    {
        if (isset($this->broken[$kind][$name])) {
            throw new Fault('missing', $this->broken[$kind][$name], "mend {$kind}s/$name.php");
        }
        if (!isset($known[$name])) {
            throw new Fault('parameter', "unknown $kind `$name`; known: " . implode(', ', array_keys($known)));
        }
        return $known[$name];
    }
}
