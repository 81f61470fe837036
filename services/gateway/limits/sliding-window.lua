-- A true sliding window: a list of the times at which points were consumed, in milliseconds.
-- KEYS[1] the window; ARGV[1] its points, ARGV[2] its milliseconds, ARGV[3] the points that are
-- needed now, ARGV[4] those that are wanted, ARGV[5] how long the others may be used.
-- Grants what is free, up to what is wanted. A point that may be used later is in use from the last
-- moment at which it may be.
-- Returns the granted points, the points in use, the milliseconds until the oldest becomes free, and
-- the time that the list has for each granted point.
local max=tonumber(ARGV[1]) local dur=tonumber(ARGV[2])
local needed=tonumber(ARGV[3]) local wanted=tonumber(ARGV[4])
local t=redis.call('TIME') local now=t[1]*1000+math.floor(t[2]/1000)
local first=redis.call('LINDEX',KEYS[1],0)
while first and tonumber(first)<=now-dur do
  redis.call('LPOP',KEYS[1]) first=redis.call('LINDEX',KEYS[1],0)
end
local used=first and redis.call('LLEN',KEYS[1]) or 0
local granted=math.max(0,math.min(wanted,max-used))
local at=now
if granted>needed then at=now+tonumber(ARGV[5]) end
local stamp=string.format('%.0f',at)
for i=1,granted do redis.call('RPUSH',KEYS[1],stamp) end
-- An earlier point may be in use from a later time than this one.
if granted>0 then redis.call('PEXPIRE',KEYS[1],dur+tonumber(ARGV[5])) end
local oldest=first and tonumber(first) or at
return {granted,used+granted,math.max(0,oldest+dur-now),stamp}
