<?php

declare(strict_types=1);

namespace Weighbridge\Library\Settings;

/** @internal How pages are encoded. */
final class Pages
{
    /** @var list<Rule> the preferred one first; none: pages are sent as they are */
    public array $rules = [];

    /** For which requests nothing is encoded, against BREACH: those with a secret that another site caused, all with one, or none. */
    public string $breach = 'cross-site';

    /** Reads the section `page`; null: safe defaults. */
    public function __construct(?Shape $shape = null)
    {
        if ($shape === null || !$shape->has('rules')) {
            // Levels that send no more bytes than gzip 6, on ten pages: README.md.
            $this->rules = [
                new Rule('zstd', 'zstd', 6, Rule::MIN_BYTES, []),
                new Rule('br', 'br', 5, Rule::MIN_BYTES, []),
                new Rule('gzip', 'libdeflate', 6, Rule::MIN_BYTES, []),
            ];
        }
        if ($shape !== null) {
            foreach ($shape->shapes('rules') as $rule) {
                $this->rules[] = Rule::read($rule);
            }
            $this->breach = $shape->word('breach', $this->breach, ['cross-site', 'cookies', 'off']);
            $shape->close();
        }
    }
}
