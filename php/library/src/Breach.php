<?php

declare(strict_types=1);

namespace Weighbridge\Library;

/** @internal For which requests nothing is encoded, against BREACH (README.md): the rules of php/rules/cases.json. */
final class Breach
{
    /** Cookies of analytics and of consent, which tell nobody who somebody is. */
    private const HARMLESS = '/^(?:_ga(?:_.*)?|_gid|_gat.*|_gcl_.*|_dc_gtm_.*|_fb[pc]|_pk_.*|_hj.*|__utm.*|_uet.*'
        . '|_clck|_clsk|Optanon(?:Consent|AlertBoxClosed)|CookieConsent|cookieyes-consent|cookielawinfo-.*|euconsent-v2)$/D';

    /** Schemes of Authorization that a browser sends by itself. */
    private const BY_BROWSERS = ['basic', 'digest', 'negotiate', 'ntlm'];

    /** Whether the page is sent as it is, by one of the words of `page.breach`. */
    public static function isWithheld(string $setting, Request $request): bool
    {
        return $setting !== 'off' && self::isPersonal($request)
            && ($setting === 'cookies' || self::isCrossSite($request));
    }

    /** Whether the browser sent by itself what may be a secret. */
    private static function isPersonal(Request $request): bool
    {
        foreach (explode(';', $request->field('cookie') ?? '') as $cookie) {
            $cookie = trim($cookie);
            $end = strpos($cookie, '=');
            if ($cookie !== '' && ($end === false || preg_match(self::HARMLESS, substr($cookie, 0, $end)) !== 1)) {
                return true;
            }
        }
        $authorization = $request->field('authorization');
        if ($authorization === null) {
            return $request->isKnownToServer();
        }
        return in_array(strtolower(explode(' ', $authorization, 2)[0]), self::BY_BROWSERS, true);
    }

    /** Whether a page of another site had the browser send it, without the user's doing. */
    private static function isCrossSite(Request $request): bool
    {
        $site = $request->field('sec-fetch-site');
        if ($site !== null) {
            $isByUser = $request->field('sec-fetch-mode') === 'navigate' && $request->field('sec-fetch-user') === '?1';
            return !$isByUser && !in_array($site, ['same-origin', 'same-site', 'none'], true);
        }
        // An old browser, which says less.
        $from = $request->field('origin') ?? $request->field('referer');
        if ($from === null) {
            return false;
        }
        $from = self::host($from);
        $own = self::host('//' . ($request->field('host') ?? ''));
        $isSame = $from !== '' && $own !== ''
            && ($from === $own || self::isBelow($from, $own) || self::isBelow($own, $from));
        return !$isSame;
    }

    private static function isBelow(string $host, string $parent): bool
    {
        return substr($host, -strlen($parent) - 1) === ".$parent";
    }

    /** The host of an address in small letters; empty where there is none. */
    private static function host(string $address): string
    {
        $host = parse_url($address, PHP_URL_HOST);
        return is_string($host) ? strtolower($host) : '';
    }
}
