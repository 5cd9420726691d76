<?php
namespace Weighbridge;

/**
 * The codecs and serializers found in their folders, by the names of their files.
 *
 * A file that cannot be loaded stays in the list as a missing one with the reason. (Before PHP 7 a syntax
 * error cannot be caught: there it ends the worker, with the file named on stderr.)
 */
final class Catalogue
{
    private $codecs = array();
    private $serializers = array();
    private $broken = array('codec' => array(), 'serializer' => array());

    /** @param string $folder the folder that has codecs/ and serializers/ */
    public function __construct($folder)
    {
        foreach (self::files("$folder/codecs") as $name => $file) {
            $this->add('codec', $name, $file);
        }
        foreach (self::files("$folder/serializers") as $name => $file) {
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

    private static function files($folder)
    {
        $files = array();
        foreach (glob("$folder/*.php") ?: array() as $file) {
            $files[basename($file, '.php')] = $file;
        }
        ksort($files);
        return $files;
    }

    private function add($kind, $name, $file)
    {
        ob_start();
        try {
            $spec = self::load($file);
            if (!is_array($spec)) {
                throw new Fault('missing', 'it must return an array');
            }
            if ($kind === 'codec') {
                $this->codecs[$name] = new Codec($name, $spec);
            } else {
                $this->serializers[$name] = new Serializer($name, $spec);
            }
        } catch (\Exception $error) {
            $this->broken[$kind][$name] = Text::line("$name.php cannot be used: " . $error->getMessage());
        } catch (\Throwable $error) {
            $this->broken[$kind][$name] = Text::line("$name.php cannot be used: " . $error->getMessage());
        }
        ob_end_clean();
    }

    /** Loads a file in a scope of its own. */
    private static function load($file)
    {
        return require $file;
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
