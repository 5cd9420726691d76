<?php

declare(strict_types=1);

namespace Weighbridge\Library\Settings;

/** How pages are encoded. */
final class Pages
{
    /** Nothing is encoded for a request of another site that carries a cookie or credentials. */
    public const CROSS_SITE = 'cross-site';
    /** Nothing is encoded for a request that carries a cookie or credentials. */
    public const COOKIES = 'cookies';
    /** Every request's page is encoded. */
    public const OFF = 'off';

    private const DEFAULTS = [
        ['coding' => 'zstd', 'level' => 3, 'min_bytes' => 860],
        ['coding' => 'br', 'level' => 4, 'min_bytes' => 860],
        ['coding' => 'gzip', 'codec' => 'libdeflate', 'level' => 6, 'min_bytes' => 860],
    ];

    /** @var list<Rule> the preferred one first; none: pages are sent as they are */
    public array $rules = [];

    /** For which requests nothing is encoded, against BREACH. */
    public string $breach;

    /** Reads the section `page`. */
    public function __construct(Shape $shape)
    {
        $given = $shape->has('rules') ? $shape : new Shape(['rules' => self::DEFAULTS], 'page');
        foreach ($given->shapes('rules') as $rule) {
            $this->rules[] = new Rule($rule);
        }
        $this->breach = $shape->word('breach', self::CROSS_SITE, [self::CROSS_SITE, self::COOKIES, self::OFF]);
        // It was read from the defaults where it is absent.
        $shape->shapes('rules');
        $shape->close();
    }
}
