<?php
/** What the cases work with: workers, payloads and requests. */
final class Lab
{
    public $folder;
    private $binary;
    private $source;
    private $worker;

    public function __construct($binary, $source, Folder $folder)
    {
        $this->binary = $binary;
        $this->source = $source;
        $this->folder = $folder;
    }

    /** @return Client the worker that the cases of one file share */
    public function worker()
    {
        if ($this->worker === null) {
            $this->worker = $this->start($this->source);
        }
        return $this->worker;
    }

    /** @return Client a new worker, with the files in that folder */
    public function start($source, array $arguments = array(), $script = 'worker.php')
    {
        $command = array_merge(array($this->binary), $arguments, array("$source/$script"));
        return new Client($command, $this->folder->name());
    }

    /** @return string path of a copy of the PHP side with these files added */
    public function sourceWith(array $files)
    {
        $copy = $this->folder->copyOf($this->source);
        foreach ($files as $name => $content) {
            file_put_contents("$copy/$name", $content);
        }
        return $copy;
    }

    /** @return array the descriptions of codecs by name */
    public function codecs()
    {
        $codecs = array();
        foreach ($this->worker()->ask(array('op' => 'describe', 'id' => 1))['codecs'] as $codec) {
            $codecs[$codec['name']] = $codec;
        }
        return $codecs;
    }

    /** Skips unless the codec or serializer can be measured. */
    public function need(array $description, $expected = false)
    {
        if ($description['missing'] !== null) {
            throw new Skip($description['missing'], $expected);
        }
    }

    /** @return array a visit to the items with a codec, with whatever is to be otherwise */
    public function visit(array $items, $codec, $level = null, array $other = array())
    {
        $blob = implode('', $items);
        return $other + array(
            'op' => 'visit',
            'id' => 7,
            'codec' => $codec,
            'level' => $level,
            'options' => new stdClass(),
            'serializer' => null,
            'blob' => $this->folder->file($blob),
            'sha256' => hash('sha256', $blob),
            'items' => array_map('strlen', $items),
            'value' => null,
            'phases' => array('encode', 'decode'),
            'samples' => 1,
            'budget_ns' => 1000000000,
            'min_batch_ns' => 0,
            'max_batch_ns' => 1000000,
            'verify' => true,
            'memory' => false,
            'dump' => null,
        );
    }

    /** @return string text that compresses, the same every time */
    public static function text($length)
    {
        $text = '';
        for ($i = 0; strlen($text) < $length; ++$i) {
            $text .= "item $i has the colour " . md5($i) . " and the price " . ($i * 7919 % 1000) . ";\n";
        }
        return substr($text, 0, $length);
    }

    /** @return string bytes that do not compress, the same every time */
    public static function noise($length)
    {
        $noise = '';
        for ($i = 0; strlen($noise) < $length; ++$i) {
            $noise .= sha1("noise $i", true);
        }
        return substr($noise, 0, $length);
    }

    /** @return mixed a value with every type that serializers have to bring back */
    public static function value()
    {
        $shared = (object) array('id' => 1, 'tags' => array('a', 'b'));
        $rows = array();
        for ($i = 0; $i < 200; ++$i) {
            $rows[] = array('id' => $i, 'name' => "row $i", 'price' => $i / 7, 'on' => $i % 2 === 0, 'none' => null);
        }
        return array('rows' => $rows, 'first' => $shared, 'again' => $shared, 'bytes' => "\0\xff\xfe", 5 => -1, 'empty' => array());
    }
}
