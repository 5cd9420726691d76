<?php
namespace Weighbridge;

/**
 * One way in which PHP sends a content, from the array that its file in ways/ returns. Its name is the file's.
 *
 *     kind       plain, on-the-fly, pre-encoded or offload
 *     subjects   what it serves: page, asset, download
 *     about      one line, for tables
 *     codings    optional: the content codings that it can send
 *     levels     optional: min, max, default, representative
 *     options    optional: name => `range` (lowest, highest) or `words` (a list), and `about`
 *     free       optional: names of options that are any text and not described, such as `token`
 *     nominal    optional: list of (level, MB/s), rough, for forecasts only
 *     missing    optional: closure to null, or to a Fault with why it cannot be used and what would fix it
 *     library    optional: closure to name and version, as queried
 *     send       closure(Delivery), whose level is the default where none was given
 *
 * or, in place of the last three, a page that goes through a codec:
 *
 *     codec      the name of a file in codecs/: it gives bindings, levels, nominal and library
 *     with       optional: the codec's options that are fixed, such as its container
 *     streams    optional: by binding a closure(Params) to a closure as CodedPage::sendStream() takes it
 */
final class Way
{
    private $name;
    private $spec;
    private $codec;

    /**
     * @param string $home the folder that has codecs/
     * @param array  $spec what the file returned
     * @throws Fault when the array lacks something
     */
    public function __construct($home, $name, array $spec)
    {
        $this->name = $name;
        $this->spec = $spec + array(
            'codings' => array(), 'levels' => null, 'options' => array(), 'free' => array(), 'nominal' => array(),
            'with' => array(), 'streams' => array(), 'about' => '',
        );
        if (!isset($spec['kind'], $spec['subjects']) || (!isset($spec['send']) && !isset($spec['codec']))) {
            throw new Fault('missing', 'it must return an array with at least `kind`, `subjects` and `send` or `codec`');
        }
        if (isset($spec['codec'])) {
            $this->codec = $this->throughCodec(require "$home/codecs/{$spec['codec']}.php");
        }
    }

    /** @return array its entry in a description */
    public function describe()
    {
        $own = array('name' => $this->name);
        foreach (array('kind', 'codings', 'subjects', 'about') as $field) {
            $own[$field] = $this->spec[$field];
        }
        return $own + ($this->codec !== null ? $this->describeCodec() : $this->describeOwn());
    }

    private function describeCodec()
    {
        $entry = $this->codec->describe();
        $library = $entry['library'] === null ? null : "{$entry['library']} ({$entry['binding']})";
        $fields = array_flip(array('levels', 'nominal', 'options', 'missing', 'remedy'));
        return array('library' => $library) + array_intersect_key($entry, $fields);
    }

    private function describeOwn()
    {
        $options = array();
        foreach ($this->spec['options'] as $name => $option) {
            $options[] = array('name' => $name) + $option + array('range' => null, 'words' => array());
        }
        $missing = $this->missing();
        $parts = ($missing === null ? array() : $missing->describe()) + array('message' => null, 'remedy' => null);
        $asked = $missing === null && isset($this->spec['library']);
        return array(
            'levels' => $this->spec['levels'],
            'nominal' => $this->spec['nominal'],
            'options' => $options,
            'library' => $asked ? call_user_func($this->spec['library']) : null,
            'missing' => $parts['message'],
            'remedy' => $parts['remedy'],
        );
    }

    /**
     * Sends the content.
     *
     * @param string $subject what the entry script serves
     * @throws Fault on parameters that it does not take, or when it is missing
     */
    public function send($subject, Content $content, Params $params)
    {
        if (!in_array($subject, $this->spec['subjects'], true)) {
            $serves = implode(', ', $this->spec['subjects']);
            throw new Fault('parameter', "{$this->name} is no way for a $subject; it serves: $serves");
        }
        if ($this->codec !== null) {
            $this->sendCoded($content, $params);
            return;
        }
        $bound = array_diff_key($params->options, array_flip($this->spec['free']));
        $levels = $this->spec['levels'];
        Terms::check($this->name, $levels, $this->spec['options'], new Params($params->level, $bound));
        $fault = $this->missing();
        if ($fault !== null) {
            throw $fault;
        }
        $level = $params->level === null && $levels !== null ? $levels['default'] : $params->level;
        $delivery = new Delivery($content, new Params($level, $params->options));
        call_user_func($this->spec['send'], $delivery);
    }

    /** @return Codec the codec with the way's own levels and options, and with what is fixed for it */
    private function throughCodec(array $codec)
    {
        if ($this->spec['levels'] !== null) {
            $codec['levels'] = $this->spec['levels'];
        }
        $codec += array('options' => array());
        foreach ($this->spec['with'] as $name => $word) {
            $codec['options'][$name]['words'] = array($word);
        }
        $codec['options'] += $this->spec['options'];
        return new Codec($this->name, $codec);
    }

    private function sendCoded(Content $content, Params $params)
    {
        $params = new Params($params->level, $params->options + $this->spec['with']);
        list($coder, , $binding, $params) = $this->codec->coder($params);
        $delivery = new Delivery($content, $params);
        $coding = $delivery->negotiate($this->spec['codings']);
        if ($coding === null) {
            $delivery->sendPlain();
            return;
        }
        $page = new CodedPage($delivery, $coding);
        if ($delivery->inPieces() && isset($this->spec['streams'][$binding])) {
            $stream = call_user_func($this->spec['streams'][$binding], $params);
            if ($stream !== null) {
                $page->sendStream($stream);
                return;
            }
        }
        $page->sendWhole($coder);
    }

    private function missing()
    {
        return isset($this->spec['missing']) ? call_user_func($this->spec['missing']) : null;
    }
}
