-- Asks a gate of Quittance about each request, and copies its answer into the request or to the client.
local http = require("socket.http")
local ltn12 = require("ltn12")

local GATE = "http://127.0.0.1:8402/authorize"
http.TIMEOUT = 60 -- a payment of x402 may take 50 seconds

-- What the API must not get from the client: the payment, what only the gate says, what proxies say of the caller, and
-- what frameworks take for another path or method.
local REMOVED = {
  "^quittance%-", "^x%-settlement%-", "^x%-payment$", "^x%-payment%-", "^x%-quote%-refused$",
  "^x%-tab%-close$", "^x%-tab%-usage$",
  "^payment%-signature$", "^payment%-authorization$", "^x%-forwarded%-", "^forwarded$", "^x%-real%-ip$",
  "^x%-original%-", "^x%-rewrite%-", "^x%-http%-method", "^x%-method%-override$", "^x%-envoy%-original%-path$",
  "^x%-matched%-path$",
}

local function is_removed(name)
  -- Servers that map headers to variables take all but letters and digits for the same character.
  local known = name:lower():gsub("[^a-z0-9]", "-")
  for _, pattern in ipairs(REMOVED) do
    if known:find(pattern) then return true end
  end
  return false
end

-- Of one connection, or of a body that the gate does not get.
local LEFT_OUT = {
  ["connection"] = true, ["content-length"] = true, ["transfer-encoding"] = true, ["expect"] = true,
  ["upgrade"] = true, ["te"] = true, ["x-forwarded-method"] = true, ["x-forwarded-uri"] = true,
}

-- A body of these has no meaning, and the API could take it for the next request.
local BODILESS = { GET = true, HEAD = true, OPTIONS = true, TRACE = true }

function authorize(r)
  local sent = r:headers_in_table()
  local length = r.headers_in["Content-Length"]
  if BODILESS[r.method] and (r.headers_in["Transfer-Encoding"] or (length and tonumber(length) ~= 0)) then return 400 end

  local asked = {}
  for name, value in pairs(sent) do
    if not LEFT_OUT[name:lower()] then asked[name:lower()] = value end
  end
  asked["x-forwarded-method"] = r.method
  asked["x-forwarded-uri"] = r.unparsed_uri
  asked["x-forwarded-for"] = r.useragent_ip

  local body = {}
  local ok, status, headers = http.request({
    url = GATE, headers = asked, redirect = false, sink = ltn12.sink.table(body),
  })
  -- What is no answer of HTTP/1 has no headers, and the status 200.
  if not ok or not headers then return 503 end
  if status == 200 then
    for name, _ in pairs(sent) do
      if is_removed(name) then r.headers_in[name] = nil end
    end
    -- A payment of MPP is not for the API. Its own credentials are.
    local credentials = r.headers_in["Authorization"]
    if credentials and credentials:lower():find("^%s*payment%s") then r.headers_in["Authorization"] = nil end
    for name, value in pairs(headers) do
      if name:find("^quittance%-") then r.headers_in[name] = value end
      if name == "payment-response" or name == "payment-receipt" then r.headers_out[name] = value end
    end
    -- What the API leaves of a body would be the next request on its connection.
    if not BODILESS[r.method] then r.subprocess_env["proxy-nokeepalive"] = "1" end
    return apache2.OK
  end

  r.status = status
  for name, value in pairs(headers) do
    if name == "content-type" then r.content_type = value
    elseif not LEFT_OUT[name] and name ~= "date" then r.err_headers_out[name] = value end
  end
  r:write(table.concat(body))
  return apache2.DONE
end
