-- A true sliding window: a list of the times at which points were consumed, in milliseconds.
-- KEYS[1] the window; ARGV[1] points to consume, or -1 to give the newest back, ARGV[2] seconds of the window, ARGV[3] its points.
-- Returns the points in use and the milliseconds until the oldest becomes free. A refused call
-- consumes none, and the first number then exceeds ARGV[3].
local pts=tonumber(ARGV[1]) local dur=tonumber(ARGV[2])*1000 local max=tonumber(ARGV[3])
local t=redis.call('TIME') local now=t[1]*1000+math.floor(t[2]/1000)
local first=redis.call('LINDEX',KEYS[1],0)
while first and tonumber(first)<=now-dur do
  redis.call('LPOP',KEYS[1]) first=redis.call('LINDEX',KEYS[1],0)
end
local n=first and redis.call('LLEN',KEYS[1]) or 0
if pts<0 then
  if first then redis.call('RPOP',KEYS[1]) n=n-1 end
  return {n,first and (tonumber(first)+dur-now) or dur}
end
if n+pts<=max then
  for i=1,pts do n=redis.call('RPUSH',KEYS[1],string.format('%.0f',now)) end
  redis.call('PEXPIRE',KEYS[1],dur)
  return {n,(first and tonumber(first) or now)+dur-now}
end
return {n+pts,first and (tonumber(first)+dur-now) or dur}
