<?php
// SPDX-License-Identifier: Apache-2.0
// Admits only visitors with a session of your FairQueue queue. PHP 8.1 and newer, no extensions. Caches answers for at
// most three seconds. Without an answer of FairQueue it refuses. To cache in APCu or Redis instead of files, replace the
// two functions at the end.
declare(strict_types=1);

final class RequireSession
{
    public function __construct(
        private readonly string $url, // FairQueue's base URL
        private readonly string $queueId,
        private readonly ?string $serverKey = null, // lifts the limit of a single session
        private readonly int $keepSeconds = 3,
        private readonly float $timeoutSeconds = 2.0,
        private readonly ?string $folder = null,
    ) {
    }

    /** The session (ticket_id, queue_id, subject, session_expires_at), or null after the answer was sent. */
    public function check(): ?array
    {
        $token = $this->token();
        $answer = $token === null ? ['status' => 401, 'reason' => 'no_session'] : $this->ask($token);
        $this->count($answer['status'] === 200 ? 'granted' : ($answer['status'] === 503 ? 'unavailable' : 'refused'));
        if ($answer['status'] === 200) {
            return $answer['session'];
        }
        http_response_code($answer['status']);
        header('Content-Type: application/json');
        header('Cache-Control: no-store');
        if ($answer['status'] === 503) {
            header('Retry-After: 5');
        }
        echo json_encode(['error' => $answer['reason']]);
        return null;
    }

    /**
     * For `return_url` of FairQueue's waiting page, POST /fairqueue/enter: sets the session token of the form as this
     * site's cookie and redirects to $to. It does not identify the visitor: any form may be posted here.
     */
    public static function enter(string $to = '/', bool $secure = true): void
    {
        $token = $_POST['session_token'] ?? null;
        if (!is_string($token) || !preg_match('/^[\w.-]{1,200}$/D', $token)) {
            http_response_code(400);
            return;
        }
        setcookie('fairqueue_session', $token, ['path' => '/', 'httponly' => true, 'samesite' => 'Lax', 'secure' => $secure]);
        header('Cache-Control: no-store');
        header("Location: $to", true, 303);
    }

    private function token(): ?string
    {
        if (preg_match('/^Bearer (\S{1,200})$/i', $_SERVER['HTTP_AUTHORIZATION'] ?? '', $found)) {
            return $found[1];
        }
        $cookie = $_COOKIE['fairqueue_session'] ?? null;
        return is_string($cookie) && preg_match('/^[\w.-]{1,200}$/', $cookie) ? $cookie : null;
    }

    private function ask(string $token): array
    {
        $known = $this->recall($token);
        if ($known !== null) {
            return $known;
        }
        $headers = ["Authorization: Bearer $token"];
        if ($this->serverKey !== null) {
            $headers[] = "X-API-Key: {$this->serverKey}";
        }
        $context = stream_context_create(['http' => [
            'header' => implode("\r\n", $headers),
            'timeout' => $this->timeoutSeconds,
            'ignore_errors' => true, // 4xx have a body as well
            'follow_location' => 0,
        ]]);
        $body = @file_get_contents("{$this->url}/access?queue_id={$this->queueId}", false, $context);
        $status = $body === false ? 0 : (int) (explode(' ', $http_response_header[0])[1] ?? 0);
        $json = $body === false ? null : json_decode($body, true);
        if ($status === 200 && is_array($json)) {
            return $this->remember($token, ['status' => 200, 'session' => $json], min($this->keepSeconds, $this->maxAge($http_response_header)));
        }
        if ($status >= 400 && $status < 500 && $status !== 429) {
            return $this->remember($token, ['status' => 401, 'reason' => $json['code'] ?? 'refused'], 1);
        }
        return ['status' => 503, 'reason' => 'unavailable']; // fail closed
    }

    /** Time for which FairQueue allows to cache an answer, at most until the session's end. */
    private function maxAge(array $fields): int
    {
        foreach ($fields as $field) {
            if (preg_match('/^Cache-Control:.*max-age=(\d+)/i', $field, $found)) {
                return (int) $found[1];
            }
        }
        return 0;
    }

    private function file(string $name): string
    {
        return ($this->folder ?? sys_get_temp_dir()) . '/fairqueue-' . hash('sha256', $name);
    }

    private function count(string $what): void
    {
        file_put_contents(($this->folder ?? sys_get_temp_dir()) . "/fairqueue-$what.count", '.', FILE_APPEND | LOCK_EX);
    }

    private function remember(string $token, array $answer, int $seconds): array
    {
        file_put_contents($this->file($token), json_encode(['until' => time() + $seconds, 'answer' => $answer]), LOCK_EX);
        return $answer;
    }

    private function recall(string $token): ?array
    {
        $kept = json_decode((string) @file_get_contents($this->file($token)), true);
        return is_array($kept) && time() < $kept['until'] ? $kept['answer'] : null;
    }
}
