<?php
namespace Weighbridge;

/**
 * One codec, from the array that its file in codecs/ returns. Its name is the file's.
 *
 *     format       the name of the format it writes: deflate, zlib, gzip, br, zstd, lz4-block, snappy, bzip2 ...
 *     format_with  optional: closure(Params) to that name, where an option changes it
 *     levels       optional: min, max, default, representative (the few that show the range, ascending)
 *     options      optional: name => `range` (lowest, highest) or `words` (a list), and `about` (one line)
 *     sets         optional: the named sets it belongs to: web, cache, fast, archive
 *     nominal      optional: list of (level, MB/s), rough, for forecasts only
 *     takes_value  optional: true where it encodes a PHP value by serialize() itself
 *     bindings     the ways to its library by name (extension, ffi, library), the preferred one first:
 *         missing  closure to null, or to a Fault with why it cannot be used and what would fix it
 *         library  closure to the library's name and version, as queried
 *         coder    closure(Params) to a Coder; the level in Params is the default where none was given
 *         refuses  optional: names of options that this binding does not take
 *         format   optional: where this binding writes another format
 *
 * Codec chooses the binding, checks parameters, and describes itself whether or not it can run here.
 */
final class Codec
{
    private $name;
    private $spec;
    private $missing = array();

    /**
     * @param string $name the file's name without `.php`
     * @param array  $spec what the file returned
     * @throws Fault when the array lacks something
     */
    public function __construct($name, array $spec)
    {
        if (!isset($spec['format']) || empty($spec['bindings'])) {
            throw new Fault('missing', 'it must return an array with at least `format` and `bindings`');
        }
        $this->name = $name;
        $this->spec = $spec + array(
            'levels' => null, 'options' => array(), 'sets' => array(), 'nominal' => array(), 'takes_value' => false,
        );
        if (count($spec['bindings']) > 1) {
            $this->spec['options']['binding'] = array(
                'words' => array_keys($spec['bindings']),
                'about' => 'how the library is reached; without it, the first of these that is there',
            );
        }
    }

    /** @return bool whether it encodes a PHP value and not bytes */
    public function takesValue()
    {
        return $this->spec['takes_value'];
    }

    /** @return array its entry in a description */
    public function describe()
    {
        $binding = $this->firstAvailable(array_keys($this->spec['bindings']));
        $names = array_keys($this->spec['bindings']);
        $entry = array(
            'name' => $this->name,
            'format' => $this->formatOf($binding ?: $names[0]),
            'binding' => $binding ?: $names[0],
            'library' => $binding ? $this->library($binding) : null,
            'takes_value' => $this->spec['takes_value'],
            'levels' => $this->spec['levels'],
            'options' => array(),
            'sets' => $this->spec['sets'],
            'nominal' => $this->spec['nominal'],
            'missing' => null,
            'remedy' => null,
        );
        foreach ($this->spec['options'] as $name => $option) {
            $entry['options'][] = array('name' => $name) + $option + array('range' => null, 'words' => array());
        }
        if ($binding === null) {
            $fault = $this->missingFault($names)->describe();
            $entry['missing'] = $fault['message'];
            $entry['remedy'] = isset($fault['remedy']) ? $fault['remedy'] : null;
        }
        return $entry;
    }

    /**
     * @return array the coder, the name of the format it writes, the name of its binding, and all parameters
     * @throws Fault on parameters it does not take, or when it is missing
     */
    public function coder(Params $params)
    {
        Terms::check($this->name, $this->spec['levels'], $this->spec['options'], $params);
        $level = $params->level === null && $this->spec['levels'] ? $this->spec['levels']['default'] : $params->level;
        $params = new Params($level, $params->options);
        $binding = $this->choose($params);
        $coder = call_user_func($this->spec['bindings'][$binding]['coder'], $params);
        if (isset($this->spec['format_with'])) {
            return array($coder, call_user_func($this->spec['format_with'], $params), $binding, $params);
        }
        return array($coder, $this->formatOf($binding), $binding, $params);
    }

    private function formatOf($binding)
    {
        $spec = $this->spec['bindings'][$binding];
        return isset($spec['format']) ? $spec['format'] : $this->spec['format'];
    }

    private function library($binding)
    {
        return call_user_func($this->spec['bindings'][$binding]['library']);
    }

    /** @return string the binding to use with these parameters */
    private function choose(Params $params)
    {
        $all = array_keys($this->spec['bindings']);
        $wanted = isset($params->options['binding']) ? array($params->options['binding']) : $all;
        $able = array();
        foreach ($wanted as $binding) {
            $spec = $this->spec['bindings'][$binding] + array('refuses' => array());
            if (!array_intersect($spec['refuses'], array_keys($params->options))) {
                $able[] = $binding;
            }
        }
        if (!$able) {
            throw new Fault('parameter', "{$this->name}: binding={$wanted[0]} does not take every option given");
        }
        $binding = $this->firstAvailable($able);
        if ($binding === null) {
            throw $this->missingFault($able);
        }
        return $binding;
    }

    private function firstAvailable(array $bindings)
    {
        foreach ($bindings as $binding) {
            if ($this->missing($binding) === null) {
                return $binding;
            }
        }
        return null;
    }

    /** @return Fault|null why the binding cannot be used; asked once a process */
    private function missing($binding)
    {
        if (!array_key_exists($binding, $this->missing)) {
            try {
                $this->missing[$binding] = call_user_func($this->spec['bindings'][$binding]['missing']);
            } catch (\Exception $error) {
                $this->missing[$binding] = new Fault('missing', $error->getMessage());
            } catch (\Throwable $error) {
                $this->missing[$binding] = new Fault('missing', $error->getMessage());
            }
        }
        return $this->missing[$binding];
    }

    private function missingFault(array $bindings)
    {
        $reasons = array();
        $remedies = array();
        foreach ($bindings as $binding) {
            $fault = $this->missing($binding)->describe();
            $reasons[] = $fault['message'];
            if (isset($fault['remedy'])) {
                $remedies[] = $fault['remedy'];
            }
        }
        // The last binding's remedy is the nearest: a system library is easier to add than an extension.
        return new Fault('missing', "{$this->name}: " . implode('; ', $reasons), $remedies ? end($remedies) : null);
    }
}
